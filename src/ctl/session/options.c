/*
 * An option is a row of the table: name, letter, argument, the commands that it belongs to, help,
 * and the function that reads the value into a member of struct options.  getopt_long(3) gets its
 * table from these rows.
 */
#include "ctl/session/options.h"

#include "base/log.h"

#define LONG_KEYS 256 /* the first key of an option without a letter */

/* --- the values --- */

/* Reads the text of an argument into *value, or else expects @text.  Return: 0, or -EINVAL or -ERANGE. */
#define DEFINE_SETTER(kind, text, result)                               \
	static const char expected_##kind[] = text;                     \
	static int option_set_##kind(const char *argument, void *value) \
	{                                                               \
		return result;                                          \
	}

/* @names ends with NULL. */
static int option_set_one_of(const char *const *names, const char *argument, const char **value)
{
	return text_is_one_of(argument, names) ? (*value = argument, 0) : -EINVAL;
}

static int option_read_level(const char *argument, void *value)
{
	int level = log_parse_level(argument);

	*(int *)value = level;
	return level < 0 ? level : 0;
}

static int option_add_word(const char *argument, void *value)
{
	struct option_words *w = value;

	if (w->n == ARRAY_SIZE(w->words))
		return -ERANGE;
	w->words[w->n++] = argument;
	return *argument ? 0 : -EINVAL;
}

/* Zero is out of range. */
static int option_refuse_zero(int r, const uint64_t *value)
{
	return r == 0 && *value == 0 ? -ERANGE : r;
}

static const char *const states[] = { "ready", "running", "stopping", "complete", NULL };
static const char *const formats[] = { "json", "sarif", "github", NULL };
static const char *const scopes[] = { "main", "group", "all", NULL };

/* clang-format off */
DEFINE_SETTER(flag, "nothing", (*(bool *)value = true, 0))
DEFINE_SETTER(text, "a text", (*(const char **)value = argument, 0))
DEFINE_SETTER(path, "a value that is not empty", *argument ? option_set_text(argument, value) : -EINVAL)
DEFINE_SETTER(duration, "a duration, for example 30s, 250ms or 5min", parse_duration(argument, value))
DEFINE_SETTER(span, "a duration above 0, for example 30s, 250ms or 5min",
	      option_refuse_zero(parse_duration(argument, value), value))
DEFINE_SETTER(time, "a time, for example 10min (ago), 14:30, 2026-03-01 14:30 or 2026-03-01T14:30:00Z",
	      parse_time(argument, clock_realtime_usec(), value))
DEFINE_SETTER(signal, "a signal, for example SIGUSR1 or 10", parse_signal(argument, value))
DEFINE_SETTER(count, "a whole number", parse_uint(argument, UINT32_MAX, value))
DEFINE_SETTER(positive, "a whole number above 0", option_refuse_zero(option_set_count(argument, value), value))
DEFINE_SETTER(until, "ready, running, stopping or complete", option_set_one_of(states, argument, value))
DEFINE_SETTER(format, "json, sarif or github", option_set_one_of(formats, argument, value))
DEFINE_SETTER(scope, "main, group or all", option_set_one_of(scopes, argument, value))
DEFINE_SETTER(level, "error, warning, notice, info or debug", option_read_level(argument, value))
DEFINE_SETTER(word, "up to 64 names of files or folders", option_add_word(argument, value))
DEFINE_SETTER(property, "up to 64 times KEY=VALUE, for example user=www-data",
	      strchr(argument, '=') && *argument != '=' ? option_add_word(argument, value) : -EINVAL)
/* clang-format on */

/* --- the table --- */

#define ROW(name, letter, argument, verbs, help, set, member)          \
	{                                                              \
		name, letter, argument, verbs, help, expected_##set,   \
			option_set_##set, offsetof(struct options, member) \
	}

/* clang-format off */
static const struct option_row table[] = {
	ROW("socket", 's', "PATH", NULL, "the daemon's control socket", path, socket),
	ROW("json", 0, NULL, NULL, "print JSON", flag, json),
	ROW("timeout", 0, "D", NULL,
	    "wait no longer than D (250ms, 30s, 5min), then exit with 124", duration, timeout_usec),
	ROW("no-wait", 0, NULL, NULL, "return when start, stop, restart, shutdown or rollout has begun", flag, no_wait),
	ROW("quiet", 'q', NULL, NULL, "print errors only", flag, quiet),
	ROW("help", 'h', NULL, NULL, "show this help", flag, help),
	ROW("version", 0, NULL, NULL, "show the version", flag, version),
	ROW("force", 0, NULL, " shutdown ", "kill the remaining processes now", flag, force),
	ROW("reason", 0, "T", " shutdown ", "the reason, for the log", text, reason),
	ROW("why", 0, "T", " guard ", "the reason of the guard, for the lists", text, why),
	ROW("late", 0, NULL, " guard ", "also on a stopped node that is not yet complete", flag, late),
	ROW("using", 0, NULL, " guard ", "NODE gets its signal in a stop only when CMD is over", flag, using),
	ROW("ttl", 0, "D", " guard ", "hold the guard for no longer than D", span, ttl_usec),
	ROW("on-shutdown", 0, "SIG", " guard ", "send SIG to CMD when the node is shut down", signal, on_shutdown),
	ROW("for", 0, "STATE", " wait ", "ready, running, stopping or complete (the default)", until, until),
	ROW("blocking", 0, NULL, " guards ", "only guards that a shutdown is waiting for now", flag, blocking),
	ROW("dry-run", 0, NULL, " reload rehearse rollout upgrade ", "print what would be done or found, and change nothing", flag, dry_run),
	ROW("strict", 0, NULL, " check ", "fail for a warning, too", flag, strict),
	ROW("format", 0, "FORMAT", " check ", "json, sarif or github: for a program, on standard output", format, format),
	ROW("settle", 0, "D", " start restart rehearse rollout ",
	    "time to watch a service after its start (1s)", duration, settle_usec),
	ROW("parallel", 0, "N", " rollout ", "restart N at a time (1)", positive, parallel),
	ROW("min-ready", 0, "N", " rollout ",
	    "keep nodes that require a template while N other instances are ready (all)", positive, min_ready),
	ROW("undo", 0, NULL, " rollout ", "go back to the settings before the last rollout", flag, undo),
	ROW("or-undo", 0, NULL, " rollout ", "go back if a service fails", flag, or_undo),
	ROW("outdated", 0, NULL, " rollout ", "only services with former settings or replaced files", flag, outdated),
	ROW("pause-after", 0, "N", " rollout ", "pause when N services are restarted", positive, pause_after),
	ROW("continue", 0, NULL, " rollout ", "go on after a pause, or a failure", flag, continues),
	ROW("confirm", 0, "D", " reload ", "go back after D, unless swansongctl confirm comes", span, confirm_usec),
	ROW("to", 0, "N", " reload ", "to the configuration N of swansongctl changes", positive, to),
	ROW("now", 0, NULL, " enable disable ", "also start or stop it", flag, now),
	ROW("scope", 0, "SCOPE", " signal ", "main (the default), group or all", scope, scope),
	ROW("property", 'p', "KEY=VALUE", " run ", "a key of swansong.ini(5); may be repeated", property, properties),
	ROW("wait", 0, NULL, " run ", "wait for its end, and exit with its status", flag, wait),
	ROW("keep", 0, NULL, " run ", "keep the node when it has ended", flag, keep),
	ROW("trust-config", 0, NULL, " check advise plan ", "accept files of any owner", flag, trust),
	ROW("follow", 'f', NULL, " logs ", "go on with each line that comes", flag, follow),
	ROW("lines", 'n', "N", " logs ", "the last N lines of each node (10)", count, lines),
	ROW("since", 'S', "TIME", " logs availability ", "from TIME on (10min: ago; 14:30; 2026-03-01 14:30; ...T14:30:00Z)", time, since_usec),
	ROW("until", 'U', "TIME", " logs ", "up to TIME", time, until_usec),
	ROW("grep", 'g', "PATTERN", " logs ", "lines that match this extended regular expression", path, grep),
	ROW("level", 0, "LEVEL", " logs ", "lines of this level or a more important one: error, warning, notice, info, debug", level, level),
	ROW("raw", 0, NULL, " logs ", "control characters as they are, also on a terminal", flag, raw),
	ROW("reopen", 0, NULL, " logs ", "open log files anew, for logrotate", flag, reopen),
	ROW("report", 0, "FILE", " blame plot ", "the report that the daemon has left", path, report),
	ROW("history", 0, "FILE", " history advise availability plan ", "the history of ends, if not the daemon's", path, history),
	ROW("from-history", 0, NULL, " plan ", "also how long it takes by past ends", flag, from_history),
	ROW("grace", 0, "D", " plan shutdown ",
	    "shutdown: end within D; plan: exit with 1 if it may take longer", span, grace_usec),
	ROW("within", 0, "D", " plan shutdown ", "shutdown: as --grace; plan: as such a shutdown", span, within_usec),
	ROW("extend", 0, "D", " shutdown ", "more time for a shutdown that is under way", span, extend_usec),
	ROW("hold", 0, NULL, " shutdown ", "signal and kill nothing until --release", flag, hold),
	ROW("release", 0, NULL, " shutdown ", "go on after --hold", flag, release),
	ROW("config", 0, "FILE", " advise cat plan security show ",
	    "a file or folder to read, without a daemon; may be repeated", word, configs),
	ROW("once", 0, NULL, " top ", "once, also on a terminal", flag, once),
	ROW("all", 0, NULL, " show ", "show the defaults, too", flag, all),
	ROW("reverse", 0, NULL, " deps ", "show the dependents of the nodes instead", flag, reverse),
	ROW("last", 0, "N", " events ", "begin with the last N that are remembered", count, last),
};
/* clang-format on */

size_t options_table(const struct option_row **ret)
{
	*ret = table;
	return ARRAY_SIZE(table);
}

static int option_key_of(const struct option_row *row)
{
	return row->letter ? row->letter : LONG_KEYS + (int)(row - table);
}

void options_getopt(struct option ret[static OPTIONS_MAX])
{
	_Static_assert(ARRAY_SIZE(table) < OPTIONS_MAX, "raise OPTIONS_MAX");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		ret[i] = (struct option){
			.name = table[i].name,
			.has_arg = table[i].argument ? required_argument : no_argument,
			.val = option_key_of(&table[i]),
		};
	ret[ARRAY_SIZE(table)] = (struct option){};
}

const struct option_row *option_find(int key)
{
	const struct option_row *row = table;

	while (option_key_of(row) != key)
		row++;
	return row;
}

void options_init(struct options *options)
{
	*options = (struct options){
		.timeout_usec = USEC_INFINITY,
		.settle_usec = USEC_PER_SEC,
		.ttl_usec = USEC_INFINITY,
		.until_usec = USEC_INFINITY,
		.level = LOG_DEBUG,
		.lines = UINT64_MAX,
		.parallel = 1,
		.min_ready = UINT64_MAX,
		.pause_after = UINT64_MAX,
		.extend_usec = UINT64_MAX,
		.confirm_usec = UINT64_MAX,
		.to = UINT64_MAX,
		.last = UINT64_MAX,
		.grace_usec = UINT64_MAX,
		.within_usec = UINT64_MAX,
	};
}

bool option_is_for(const struct option_row *row, const char *verb)
{
	char word[32];

	if (!row->verbs)
		return true;
	(void)snprintf(word, sizeof(word), " %s ", verb);
	return strstr(row->verbs, word);
}
