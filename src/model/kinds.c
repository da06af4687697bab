#include "model/kinds.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/parse.h"
#include "model/settings.h"

#define KIND(name) const struct kind kind_##name = { .equal = name##_equal, .print = name##_print }

/* --- single values --- */

#define DURATION_TEXT_MAX 32

/* Exact, and in one unit, as a configuration has it; unlike clock_text(), which rounds. */
static char *duration_text(char buf[static DURATION_TEXT_MAX], uint64_t usec)
{
	static const struct {
		const char *name;
		uint64_t usec;
	} units[] = {
		{ "d", 24 * 60 * 60 * USEC_PER_SEC },
		{ "h", 60 * 60 * USEC_PER_SEC },
		{ "min", 60 * USEC_PER_SEC },
		{ "s", USEC_PER_SEC },
		{ "ms", USEC_PER_MSEC },
	};
	size_t i = 0;

	if (usec == USEC_INFINITY)
		return strcpy(buf, "infinity");
	if (usec == 0)
		return strcpy(buf, "0");
	while (i < ARRAY_SIZE(units) - 1 && usec % units[i].usec != 0)
		i++;
	(void)snprintf(buf, DURATION_TEXT_MAX, "%" PRIu64 "%s", usec / units[i].usec,
		       units[i].name);
	return buf;
}

static bool duration_equal(const void *a, const void *b)
{
	return *(const uint64_t *)a == *(const uint64_t *)b;
}

static void duration_print(FILE *file, const void *value, const struct kind *kind)
{
	char text[DURATION_TEXT_MAX];

	(void)kind;
	(void)fputs(duration_text(text, *(const uint64_t *)value), file);
}
KIND(duration);

static void watchdog_print(FILE *file, const void *value, const struct kind *kind)
{
	if (*(const uint64_t *)value == 0)
		(void)fputs("infinity", file);
	else
		duration_print(file, value, kind);
}
const struct kind kind_watchdog = { .equal = duration_equal, .print = watchdog_print };

static bool bool_equal(const void *a, const void *b)
{
	return *(const bool *)a == *(const bool *)b;
}

static void bool_print(FILE *file, const void *value, const struct kind *kind)
{
	(void)kind;
	(void)fputs(*(const bool *)value ? "yes" : "no", file);
}
KIND(bool);

static void exit_on_signal_print(FILE *file, const void *value, const struct kind *kind)
{
	(void)kind;
	(void)fputs(*(const bool *)value ? "128+n" : "0", file);
}
const struct kind kind_exit_on_signal = { .equal = bool_equal, .print = exit_on_signal_print };

static bool int_equal(const void *a, const void *b)
{
	return *(const int *)a == *(const int *)b;
}

static void signal_print(FILE *file, const void *value, const struct kind *kind)
{
	char text[SIGNAL_TEXT_MAX];

	(void)kind;
	(void)fputs(parse_signal_text(text, *(const int *)value), file);
}
const struct kind kind_signal = { .equal = int_equal, .print = signal_print };

/* Of an umask, -1 is none; the socket's mode is always one. */
static void mode_print(FILE *file, const void *value, const struct kind *kind)
{
	(void)kind;
	if (*(const int *)value >= 0)
		(void)fprintf(file, "%04o", *(const unsigned *)value);
}
const struct kind kind_mode = { .equal = int_equal, .print = mode_print };

static void choice_print(FILE *file, const void *value, const struct kind *kind)
{
	(void)fputs(choice_name(kind->choices, *(const int *)value), file);
}
#define CHOICE(name)                                             \
	const struct kind kind_##name = { .equal = int_equal,    \
					  .print = choice_print, \
					  .choices = choices_##name }

CHOICE(type);
CHOICE(restart);
CHOICE(on_failed);
CHOICE(exit_when);
CHOICE(signal_scope);
CHOICE(on_unhealthy);
CHOICE(strategy);

static void bound_print(FILE *file, const void *value, const struct kind *kind)
{
	uint64_t bound = *(const uint64_t *)value;

	(void)kind;
	if (bound == UINT64_MAX)
		(void)fputs("infinity", file);
	else if (bound != 0)
		(void)fprintf(file, "%" PRIu64, bound);
}
const struct kind kind_bound = { .equal = duration_equal, .print = bound_print };

static bool limit_equal(const void *a, const void *b)
{
	const struct restart_limit *x = a, *y = b;

	return x->count == y->count && x->window_usec == y->window_usec;
}

static void limit_print(FILE *file, const void *value, const struct kind *kind)
{
	const struct restart_limit *limit = value;
	char window[DURATION_TEXT_MAX];

	(void)kind;
	if (limit->count)
		(void)fprintf(file, "%u/%s", limit->count,
			      duration_text(window, limit->window_usec));
	else
		(void)fputs("none", file);
}
KIND(limit);

static bool status_equal(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct success_status)) == 0;
}

static void status_print(FILE *file, const void *value, const struct kind *kind)
{
	const struct success_status *status = value;
	char text[SIGNAL_TEXT_MAX];
	const char *blank = "";

	(void)kind;
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
KIND(status);

/* --- texts and lists --- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool text_equal(const void *a, const void *b)
{
	return same_text(*(char *const *)a, *(char *const *)b);
}

static void text_print(FILE *file, const void *value, const struct kind *kind)
{
	const char *text = *(char *const *)value;

	(void)kind;
	(void)fputs(text ? text : "", file);
}
KIND(text);

static bool words_equal(const void *a, const void *b)
{
	char *const *x = *(char **const *)a, *const *y = *(char **const *)b;

	if (!x || !y)
		return (!x || !*x) && (!y || !*y);
	for (; *x && *y; x++, y++) {
		if (strcmp(*x, *y) != 0)
			return false;
	}
	return *x == *y;
}

static void words_print(FILE *file, const void *value, const struct kind *kind)
{
	char *const *words = *(char **const *)value;

	(void)kind;
	for (size_t i = 0; words && words[i]; i++)
		(void)fprintf(file, "%s%s", i ? " " : "", words[i]);
}
KIND(words);

/* Some are from files that not everybody may read. */
static void environment_print(FILE *file, const void *value, const struct kind *kind)
{
	char *const *variables = *(char **const *)value;

	(void)kind;
	for (size_t i = 0; variables && variables[i]; i++)
		(void)fprintf(file, "%s%.*s", i ? " " : "", (int)strcspn(variables[i], "="),
			      variables[i]);
}
const struct kind kind_environment = { .equal = words_equal, .print = environment_print };

static bool nodes_equal(const void *a, const void *b)
{
	struct node_config *const *x = *(struct node_config * *const *)a;
	struct node_config *const *y = *(struct node_config * *const *)b;

	if (!x || !y)
		return (!x || !*x) && (!y || !*y);
	for (; *x && *y; x++, y++) {
		if (strcmp((*x)->path, (*y)->path) != 0)
			return false;
	}
	return !*x && !*y;
}

static void nodes_print(FILE *file, const void *value, const struct kind *kind)
{
	struct node_config *const *nodes = *(struct node_config * *const *)value;

	(void)kind;
	for (size_t i = 0; nodes && nodes[i]; i++)
		(void)fprintf(file, "%s%s", i ? " " : "", nodes[i]->path);
}
KIND(nodes);

/* --- what fills more than one member of the node, or of the config --- */

static bool command_equal(const void *a, const void *b)
{
	const struct node_config *x = a, *y = b;

	return !x->argv == !y->argv && words_equal(&x->argv, &y->argv);
}

/* As written, but on one line. */
static void command_print(FILE *file, const void *value, const struct kind *kind)
{
	const struct node_config *node = value;

	(void)kind;
	if (!node->argv)
		return;
	for (const char *c = node->command; *c; c++)
		(void)fputc(*c == '\n' ? ' ' : *c, file);
}
KIND(command);

static bool commands_equal(const void *a, const void *b)
{
	const struct commands *x = a, *y = b;

	if (x->n != y->n)
		return false;
	for (size_t i = 0; i < x->n; i++) {
		if (!words_equal(&x->argv[i], &y->argv[i]))
			return false;
	}
	return true;
}

static void commands_print(FILE *file, const void *value, const struct kind *kind)
{
	const struct commands *commands = value;

	for (size_t i = 0; i < commands->n; i++) {
		(void)fputs(i ? "; " : "", file);
		words_print(file, &commands->argv[i], kind);
	}
}
KIND(commands);

static bool listen_equal(const void *a, const void *b)
{
	const struct extras *x = a, *y = b;

	if (x->n_listen != y->n_listen)
		return false;
	for (size_t i = 0; i < x->n_listen; i++) {
		const struct listen *l = &x->listen[i], *m = &y->listen[i];

		if (listen_compare(l, m) != 0 || strcmp(l->name, m->name) != 0 ||
		    l->mode != m->mode || l->owner != m->owner || l->group != m->group)
			return false;
	}
	return true;
}

/* What is as it is by default is left out. */
static void socket_print(FILE *file, const struct listen *l)
{
	(void)fprintf(file, "%s%s", listen_prefix(l->kind), l->address);
	if (strcmp(l->name, LISTEN_NAME_DEFAULT) != 0)
		(void)fprintf(file, ",name=%s", l->name);
	if (l->kind == LISTEN_UNIX && l->mode != LISTEN_MODE_DEFAULT)
		(void)fprintf(file, ",mode=%04o", l->mode);
	if (l->owner != (uid_t)-1)
		(void)fprintf(file, ",owner=%u", l->owner);
	if (l->group != (gid_t)-1)
		(void)fprintf(file, ",group=%u", l->group);
}

static void listen_print(FILE *file, const void *value, const struct kind *kind)
{
	const struct extras *extras = value;

	(void)kind;
	for (size_t i = 0; i < extras->n_listen; i++) {
		(void)fputs(i ? " " : "", file);
		socket_print(file, &extras->listen[i]);
	}
}
KIND(listen);

static bool user_equal(const void *a, const void *b)
{
	const struct credentials *x = a, *y = b;

	if (x->set != y->set)
		return false;
	/* The group is the user's own where no other is named. */
	if (x->set && (x->uid != y->uid || (!x->set_group && !y->set_group && x->gid != y->gid)))
		return false;
	return same_text(x->user, y->user) && same_text(x->home, y->home) &&
	       same_text(x->shell, y->shell);
}

static void user_print(FILE *file, const void *value, const struct kind *kind)
{
	const struct credentials *who = value;

	(void)kind;
	(void)fputs(who->user ? who->user : "", file);
}
KIND(user);

static bool group_equal(const void *a, const void *b)
{
	const struct credentials *x = a, *y = b;

	return x->set_group == y->set_group && (!x->set_group || x->gid == y->gid);
}

static void group_print(FILE *file, const void *value, const struct kind *kind)
{
	const struct credentials *who = value;

	(void)kind;
	if (who->set_group)
		(void)fprintf(file, "%u", (unsigned)who->gid);
}
KIND(group);

static bool control_group_equal(const void *a, const void *b)
{
	const struct config *x = a, *y = b;

	return x->control_group_set == y->control_group_set &&
	       (!x->control_group_set || x->control_group == y->control_group);
}

static void control_group_print(FILE *file, const void *value, const struct kind *kind)
{
	const struct config *config = value;

	(void)kind;
	if (config->control_group_set)
		(void)fprintf(file, "%u", (unsigned)config->control_group);
}
KIND(control_group);

static bool output_equal(const void *a, const void *b)
{
	const struct output *x = a, *y = b;

	return x->kind == y->kind && same_text(x->path, y->path);
}

static void output_print(FILE *file, const void *value, const struct kind *kind)
{
	const struct output *output = value;
	const char *name = choice_name(choices_output, (int)output->kind);

	(void)kind;
	if (output->kind == OUTPUT_FILE)
		(void)fprintf(file, "file:%s", output->path);
	else if (name)
		(void)fputs(name, file);
}
KIND(output);
