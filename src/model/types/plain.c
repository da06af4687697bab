/*
 * Types of single numbers, of a choice between words, for restart-limit and for success-status.
 * Most are a function of base/parse.h and one that prints the value in the form of the
 * configuration.
 */
#include "model/types/type.h"

/* Reads a value by a function of base/parse.h. */
#define PARSE(name)                                               \
	static int name##_parse(struct value *value, void *field) \
	{                                                         \
		return parse_##name(value->text, field);          \
	}

PARSE(bool)
PARSE(duration)
PARSE(signal)

static void bool_print(FILE *file, const void *field)
{
	(void)fputs(*(const bool *)field ? "yes" : "no", file);
}

TYPE(bool, .parse = bool_parse, .print = bool_print, .size = sizeof(bool),
     .expected = "yes, no, true, false, on, off, 1 or 0");

/* --- durations, in microseconds --- */

static void duration_print(FILE *file, const void *field)
{
	char text[DURATION_TEXT_MAX];

	(void)fputs(parse_duration_text(text, *(const uint64_t *)field), file);
}

TYPE(duration, .parse = duration_parse, .print = duration_print, .size = sizeof(uint64_t),
     .expected = "a duration, for example 30s, 250ms, 5min, 1h, 1d or infinity");

/*
 * Times of at least @min milliseconds.  0 is the one that never comes, where that is allowed: for an interval it would
 * be a busy loop.
 */
static int interval_parse(struct value *value, void *field)
{
	uint64_t usec;

	if (parse_duration(value->text, &usec) < 0)
		return -EINVAL;
	if (usec < (uint64_t)value->type->min * USEC_PER_MSEC)
		return value_refuse(value, "too short");
	if (usec == USEC_INFINITY && value->type == &type_interval)
		return value_refuse(value, "infinite");
	*(uint64_t *)field = usec == USEC_INFINITY ? 0 : usec;
	return 0;
}

static void watchdog_print(FILE *file, const void *field)
{
	uint64_t usec = *(const uint64_t *)field;

	duration_print(file, usec ? field : &(uint64_t){ USEC_INFINITY });
}

TYPE(interval, .parse = interval_parse, .print = duration_print, .size = sizeof(uint64_t),
     .min = 10, .expected = "a duration of at least 10ms, for example 500ms, 10s or 1min");

TYPE(watchdog, .parse = interval_parse, .print = watchdog_print, .size = sizeof(uint64_t), .min = 1,
     .expected = "a duration, for example 500ms, 30s, 5min, or infinity for no watchdog");

TYPE(idle, .parse = interval_parse, .print = watchdog_print, .size = sizeof(uint64_t), .min = 10,
     .expected = "a duration of at least 10ms, for example 30s or 10min, or infinity");

/* --- signals and permissions --- */

static void signal_print(FILE *file, const void *field)
{
	char text[SIGNAL_TEXT_MAX];

	(void)fputs(parse_signal_text(text, *(const int *)field), file);
}

TYPE(signal, .parse = signal_parse, .print = signal_print, .size = sizeof(int),
     .expected = "a signal, for example SIGTERM, QUIT, 15 or SIGRTMIN+3");

static int mode_parse(struct value *value, void *field)
{
	unsigned mode;

	if (parse_mode(value->text, &mode) < 0 || mode > 0777)
		return -EINVAL;
	*(unsigned *)field = mode;
	return 0;
}

/* -1: no umask is set; other modes are never -1. */
static void mode_print(FILE *file, const void *field)
{
	if (*(const int *)field >= 0)
		(void)fprintf(file, "%04o", *(const unsigned *)field);
}

TYPE(mode, .parse = mode_parse, .print = mode_print, .size = sizeof(unsigned),
     .expected = "octal permissions from 0 to 0777, for example 0640");

/* --- whole numbers --- */

static int plain_parse_number(struct value *value, void *field)
{
	const struct type *type = value->type;
	bool negative = *value->text == '-' && type->min < 0;
	const char *p = value->text + negative;
	uint64_t digits;
	int number;

	if (parse_digits(&p, &digits) < 0 || digits > INT32_MAX ||
	    strcmp(p, type->unit ? type->unit : "") != 0)
		return -EINVAL;
	number = negative ? -(int)digits : (int)digits;
	if (number < type->min || number > type->max)
		return -EINVAL;
	*(int *)field = number;
	return 0;
}

static void plain_print_number(FILE *file, const void *field)
{
	if (*(const int *)field != ATTRIBUTE_KEEP)
		(void)fprintf(file, "%d", *(const int *)field);
}

#define NUMBER(prefix, least, most)                                                                \
	{                                                                                          \
		.parse = plain_parse_number, .print = plain_print_number, .size = sizeof(int),     \
		.expected = prefix " from " STRINGIFY(least) " to " STRINGIFY(most), .min = least, \
		.max = (most)                                                                      \
	}

const struct type type_fd_store_max = NUMBER("a number", 0, CONFIG_FD_STORE_MAX);
const struct type type_log_keep = NUMBER("a number", 0, CONFIG_LOG_KEEP_MAX);
const struct type type_retries = NUMBER("a number", 1, 1000);
const struct type type_nice = NUMBER("a whole number", -20, 19);
const struct type type_oom_score = NUMBER("a whole number", -1000, 1000);
const struct type type_stop_priority = NUMBER("a whole number", -1000, 1000);

static void percent_print(FILE *file, const void *field)
{
	if (*(const int *)field != ATTRIBUTE_KEEP)
		(void)fprintf(file, "%d%%", *(const int *)field);
}

TYPE(percent, .parse = plain_parse_number, .print = percent_print, .size = sizeof(int), .max = 100,
     .unit = "%", .expected = "a share from 0% to 100%, for example 20%");

/* --- limits of a control group: UINT64_MAX is infinity, 0 is not set --- */

static int plain_parse_bound(struct value *value, void *field)
{
	const struct type *type = value->type;
	uint64_t bound = UINT64_MAX;
	int r = 0;

	if (type == &type_weight || strcmp(value->text, "infinity") != 0) {
		r = type->max ? parse_uint(value->text, (uint64_t)type->max, &bound)
			      : parse_size(value->text, &bound);
		if (r < 0 || bound == 0 || bound == UINT64_MAX)
			return -EINVAL;
	}
	*(uint64_t *)field = bound;
	return 0;
}

static void plain_print_bound(FILE *file, const void *field)
{
	uint64_t bound = *(const uint64_t *)field;

	if (bound == UINT64_MAX)
		(void)fputs("infinity", file);
	else if (bound != 0)
		(void)fprintf(file, "%" PRIu64, bound);
}

#define PIDS_MAX   4194304 /* the kernel's own, on 64 bits */
#define WEIGHT_MAX 10000

#define BOUND(text, most)                                                                         \
	{                                                                                         \
		.parse = plain_parse_bound, .print = plain_print_bound, .size = sizeof(uint64_t), \
		.expected = (text), .max = (most)                                                 \
	}

const struct type type_memory =
	BOUND("a number of bytes, for example 512M or 2G (K, M, G, T), or infinity", 0);
const struct type type_pids =
	BOUND("a number from 1 to " STRINGIFY(PIDS_MAX) ", or infinity", PIDS_MAX);
const struct type type_weight = BOUND("a number from 1 to " STRINGIFY(WEIGHT_MAX), WEIGHT_MAX);

/* --- choices between words --- */

#define CHOICES(words, ...)                                            \
	{                                                              \
		.size = sizeof(int), .expected = (words),              \
		.choices = (const struct choice[]){ __VA_ARGS__, {} }, \
	}
#define TWO(a, A, b, B)		CHOICES(a " or " b, { a, A }, { b, B })
#define THREE(a, A, b, B, c, C) CHOICES(a ", " b " or " c, { a, A }, { b, B }, { c, C })

/* clang-format off */
const struct type type_type = THREE("simple", TYPE_SIMPLE, "oneshot", TYPE_ONESHOT,
	"forking", TYPE_FORKING);
const struct type type_autostart = CHOICES("yes, no or on-demand",
	{ "yes", AUTOSTART_YES }, { "no", AUTOSTART_NO }, { "on-demand", AUTOSTART_ON_DEMAND },
	{ "true", AUTOSTART_YES }, { "on", AUTOSTART_YES }, { "1", AUTOSTART_YES },
	{ "false", AUTOSTART_NO }, { "off", AUTOSTART_NO }, { "0", AUTOSTART_NO });
const struct type type_exit_on_signal =
	TWO("0", EXIT_ON_SIGNAL_ZERO, "128+n", EXIT_ON_SIGNAL_NUMBER);
const struct type type_exit_when =
	THREE("any", EXIT_WHEN_ANY, "all", EXIT_WHEN_ALL, "never", EXIT_WHEN_NEVER);
const struct type type_strategy = THREE("one-for-one", ONE_FOR_ONE, "one-for-all", ONE_FOR_ALL,
	"rest-for-one", REST_FOR_ONE);
const struct type type_restart = THREE("always", RESTART_ALWAYS, "on-failure", RESTART_ON_FAILURE,
	"never", RESTART_NEVER);
const struct type type_on_failed = THREE("nothing", ON_FAILED_NOTHING,
	"shutdown-parent", ON_FAILED_SHUTDOWN_PARENT, "shutdown", ON_FAILED_SHUTDOWN);
const struct type type_on_unhealthy = THREE("restart", ON_UNHEALTHY_RESTART,
	"shutdown", ON_UNHEALTHY_SHUTDOWN, "log", ON_UNHEALTHY_LOG);
const struct type type_on_sleep = TWO("nothing", ON_SLEEP_NOTHING, "stop", ON_SLEEP_STOP);
const struct type type_inhibit =
	CHOICES("none; or shutdown, sleep or shutdown:sleep, perhaps with :block",
	{ "none", 0 }, { "shutdown", INHIBIT_SHUTDOWN }, { "sleep", INHIBIT_SLEEP },
	{ "shutdown:sleep", INHIBIT_SHUTDOWN | INHIBIT_SLEEP },
	{ "shutdown:block", INHIBIT_SHUTDOWN | INHIBIT_BLOCK },
	{ "sleep:block", INHIBIT_SLEEP | INHIBIT_BLOCK },
	{ "shutdown:sleep:block", INHIBIT_SHUTDOWN | INHIBIT_SLEEP | INHIBIT_BLOCK });
const struct type type_log_full = TWO("drop", LOG_FULL_DROP, "block", LOG_FULL_BLOCK);
const struct type type_log_format = THREE("plain", LOG_FORMAT_PLAIN, "prefix", LOG_FORMAT_PREFIX,
	"json", LOG_FORMAT_JSON);
const struct type type_log_timestamp =
	CHOICES("none, iso, iso-usec, unix, iso-local or iso-usec-local",
	{ "none", LOG_TIMESTAMP_NONE }, { "iso", LOG_TIMESTAMP_ISO },
	{ "iso-usec", LOG_TIMESTAMP_ISO_USEC }, { "unix", LOG_TIMESTAMP_UNIX },
	{ "iso-local", LOG_TIMESTAMP_ISO_LOCAL },
	{ "iso-usec-local", LOG_TIMESTAMP_ISO_USEC_LOCAL });
const struct type type_signal_scope = THREE("group", SIGNAL_SCOPE_GROUP,
	"main", SIGNAL_SCOPE_MAIN, "all", SIGNAL_SCOPE_ALL);
const struct type type_notify_access = THREE("user", NOTIFY_ACCESS_USER,
	"main", NOTIFY_ACCESS_MAIN, "all", NOTIFY_ACCESS_ALL);
const struct type type_read_only = CHOICES("no, usr, full or yes",
	{ "no", READ_ONLY_NO }, { "usr", READ_ONLY_USR }, { "full", READ_ONLY_FULL },
	{ "yes", READ_ONLY_YES });
const struct type type_hide_home = THREE("no", HIDE_HOME_NO, "read-only", HIDE_HOME_READ_ONLY,
	"yes", HIDE_HOME_YES);
const struct type type_sandbox = TWO("strict", SANDBOX_STRICT, "best-effort", SANDBOX_BEST_EFFORT);
/* clang-format on */

/* --- limits of failures, and exit statuses that are none --- */

#define LIMIT_MAX  1000 /* failures that restart-limit can count */
#define DIGITS_MAX 7

static int restart_limit_parse(struct value *value, void *field)
{
	struct restart_limit limit = { .count = 0 };
	const char *p = value->text;

	if (strcmp(p, "none") != 0 &&
	    (parse_digits(&p, &limit.count) < 0 || *p != '/' || p - value->text > DIGITS_MAX ||
	     parse_duration(p + 1, &limit.window_usec) < 0 || limit.count == 0 ||
	     limit.count > LIMIT_MAX || limit.window_usec == 0))
		return -EINVAL;
	*(struct restart_limit *)field = limit;
	return 0;
}

static void restart_limit_print(FILE *file, const void *field)
{
	const struct restart_limit *limit = field;

	if (limit->count == 0) {
		(void)fputs("none", file);
		return;
	}
	(void)fprintf(file, "%" PRIu64 "/", limit->count);
	type_print(&type_duration, file, &limit->window_usec);
}

TYPE(restart_limit, .parse = restart_limit_parse, .print = restart_limit_print,
     .size = sizeof(struct restart_limit),
     .expected = "COUNT/DURATION, for example 5/30s, with 1 to " STRINGIFY(
	     LIMIT_MAX) " failures, or none");

static int pressure_limit_parse(struct value *value, void *field)
{
	struct pressure_limit limit = { .percent = 0 };
	const char *over = strstr(value->text, "% over ");
	const char *p = value->text;

	if (strcmp(p, "none") != 0 &&
	    (parse_digits(&p, &limit.percent) < 0 || p != over || limit.percent < 1 ||
	     limit.percent > 100 ||
	     parse_duration(over + strlen("% over "), &limit.window_usec) < 0 ||
	     limit.window_usec < 2 * USEC_PER_SEC || limit.window_usec > 3600 * USEC_PER_SEC))
		return -EINVAL;
	*(struct pressure_limit *)field = limit;
	return 0;
}

static void pressure_limit_print(FILE *file, const void *field)
{
	const struct pressure_limit *limit = field;

	if (limit->window_usec == 0) {
		(void)fputs("none", file);
		return;
	}
	(void)fprintf(file, "%" PRIu64 "%% over ", limit->percent);
	type_print(&type_duration, file, &limit->window_usec);
}

TYPE(pressure_limit, .parse = pressure_limit_parse, .print = pressure_limit_print,
     .size = sizeof(struct pressure_limit),
     .expected =
	     "SHARE over DURATION, for example 20% over 30s, with a duration from 2s to 1h, or none");

static int success_status_add(struct value *value, const char *word, struct success_status *status)
{
	uint64_t code;
	int signo;

	if (parse_uint(word, 255, &code) == 0) {
		status->codes[code / 64] |= UINT64_C(1) << code % 64;
		return 0;
	}
	if (*word >= '0' && *word <= '9')
		return value_refuse(value, "exit status above 255");
	if (parse_signal(word, &signo) < 0)
		return value_refuse(value, "neither an exit status nor a signal");
	status->signals |= UINT64_C(1) << (signo - 1);
	return 0;
}

static int success_status_parse(struct value *value, void *field)
{
	cleanup(freep) char **words = NULL;
	struct success_status status = { .signals = 0 };
	int n = value_words(value, &words);
	int r = n < 0 ? n : n == 0 ? -EINVAL : 0;

	for (int i = 0; r == 0 && i < n; i++)
		r = success_status_add(value, words[i], &status);
	if (r == 0)
		*(struct success_status *)field = status;
	return r;
}

static void success_status_print(FILE *file, const void *field)
{
	const struct success_status *status = field;
	char text[SIGNAL_TEXT_MAX];
	const char *blank = "";

	for (unsigned code = 0; code < 256; code++) {
		if (!(status->codes[code / 64] >> code % 64 & 1))
			continue;
		(void)fprintf(file, "%s%u", blank, code);
		blank = " ";
	}
	for (int signo = 1; signo <= 64; signo++) {
		if (!(status->signals >> (signo - 1) & 1))
			continue;
		(void)fprintf(file, "%s%s", blank, parse_signal_text(text, signo));
		blank = " ";
	}
}

TYPE(success_status, .parse = success_status_parse, .print = success_status_print,
     .size = sizeof(struct success_status),
     .expected = "exit statuses from 0 to 255 and names of signals, for example 1 255 SIGHUP");
