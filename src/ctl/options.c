#include "ctl/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/parse.h"

enum {
	KEY_JSON = 256,
	KEY_TIMEOUT,
	KEY_NO_WAIT,
	KEY_VERSION,
	KEY_FORCE,
	KEY_REASON,
	KEY_WHY,
	KEY_LATE,
	KEY_TTL,
	KEY_ON_SHUTDOWN,
	KEY_FOR,
	KEY_BLOCKING,
	KEY_DRY_RUN,
	KEY_SCOPE,
	KEY_LAST,
	KEY_WAIT,
	KEY_KEEP,
	KEY_REPORT,
	KEY_GRACE,
	KEY_CONFIG
};

static const struct option_row table[] = {
	{ "socket", 's', "PATH", NULL, "the daemon's control socket" },
	{ "json", KEY_JSON, NULL, NULL, "print JSON" },
	{ "timeout", KEY_TIMEOUT, "D", NULL,
	  "wait no longer than D (250ms, 30s, 5min), then exit with 124" },
	{ "no-wait", KEY_NO_WAIT, NULL, NULL, "do not wait until it is done" },
	{ "quiet", 'q', NULL, NULL, "print errors only" },
	{ "help", 'h', NULL, NULL, "show this" },
	{ "version", KEY_VERSION, NULL, NULL, "show the version" },
	{ "force", KEY_FORCE, NULL, " shutdown ", "kill now what is still there" },
	{ "reason", KEY_REASON, "T", " shutdown ", "why, for the log" },
	{ "why", KEY_WHY, "T", " guard ", "what the guard is for" },
	{ "late", KEY_LATE, NULL, " guard ", "also on a stopped node that is not yet complete" },
	{ "ttl", KEY_TTL, "D", " guard ", "hold the guard for no longer than D" },
	{ "on-shutdown", KEY_ON_SHUTDOWN, "SIG", " guard ",
	  "send SIG to CMD when the node is shut down" },
	{ "for", KEY_FOR, "STATE", " wait ", "ready, running, stopping or complete (the default)" },
	{ "blocking", KEY_BLOCKING, NULL, " guards ", "only what a shutdown is waiting for now" },
	{ "dry-run", KEY_DRY_RUN, NULL, " reload ", "say what would change, and change nothing" },
	{ "scope", KEY_SCOPE, "WHOM", " signal ", "main (the default), group or all" },
	{ "property", 'p', "KEY=VALUE", " run ", "a key of swansong.ini(5); may be repeated" },
	{ "wait", KEY_WAIT, NULL, " run ", "wait for its end, and exit with its status" },
	{ "keep", KEY_KEEP, NULL, " run ", "keep the node when it has ended" },
	{ "follow", 'f', NULL, " logs ", "go on with what is added" },
	{ "lines", 'n', "N", " logs ", "the last N lines, 10 if it is not given" },
	{ "report", KEY_REPORT, "FILE", " blame plot ", "the report that the daemon has left" },
	{ "grace", KEY_GRACE, "D", " plan ", "exit with 1 if it may take longer than D" },
	{ "config", KEY_CONFIG, "FILE", " plan ",
	  "of a file or folder, without a daemon; may be repeated" },
	{ "last", KEY_LAST, "N", " events ", "begin with the last N that are remembered" },
};

size_t options_table(const struct option_row **ret)
{
	*ret = table;
	return ARRAY_SIZE(table);
}

void options_getopt(struct option ret[static OPTIONS_MAX])
{
	_Static_assert(ARRAY_SIZE(table) < OPTIONS_MAX, "raise OPTIONS_MAX");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		ret[i] = (struct option){
			.name = table[i].name,
			.has_arg = table[i].argument ? required_argument : no_argument,
			.val = table[i].key,
		};
	ret[ARRAY_SIZE(table)] = (struct option){};
}

void options_init(struct options *options)
{
	*options = (struct options){
		.timeout_usec = USEC_INFINITY,
		.ttl_usec = USEC_INFINITY,
		.lines = 10,
		.last = UINT64_MAX,
		.grace_usec = UINT64_MAX,
	};
}

/* @names ends with NULL. */
static int set_one_of(const char **field, const char *const *names, const char *argument)
{
	while (*names && strcmp(argument, *names) != 0)
		names++;
	if (!*names)
		return -EINVAL;
	*field = argument;
	return 0;
}

static int set_until(struct options *options, const char *argument)
{
	static const char *const states[] = { "ready", "running", "stopping", "complete", NULL };

	return set_one_of(&options->until, states, argument);
}

static int set_scope(struct options *options, const char *argument)
{
	static const char *const scopes[] = { "main", "group", "all", NULL };

	return set_one_of(&options->scope, scopes, argument);
}

static int set_ttl(struct options *options, const char *argument)
{
	uint64_t usec;
	int r = parse_duration(argument, &usec);

	if (r == 0 && usec == 0)
		r = -ERANGE;
	if (r == 0)
		options->ttl_usec = usec;
	return r;
}

static int set_lines(struct options *options, const char *argument)
{
	uint64_t lines;
	int r = parse_uint(argument, UINT32_MAX, &lines);

	if (r == 0)
		options->lines = (unsigned)lines;
	return r;
}

static int add_property(struct options *options, const char *argument)
{
	if (options->n_properties == OPTIONS_PROPERTIES_MAX)
		return -ERANGE;
	if (!strchr(argument, '=') || *argument == '=')
		return -EINVAL;
	options->properties[options->n_properties++] = argument;
	return 0;
}

static int add_config(struct options *options, const char *argument)
{
	if (options->n_configs == OPTIONS_CONFIGS_MAX)
		return -ERANGE;
	if (!*argument)
		return -EINVAL;
	options->configs[options->n_configs++] = argument;
	return 0;
}

/* Of an option without an argument; NULL: it is none such. */
static bool *flag_of(struct options *options, int key)
{
	switch (key) {
	case KEY_JSON:
		return &options->json;
	case KEY_NO_WAIT:
		return &options->no_wait;
	case 'q':
		return &options->quiet;
	case 'h':
		return &options->help;
	case KEY_VERSION:
		return &options->version;
	case KEY_FORCE:
		return &options->force;
	case KEY_LATE:
		return &options->late;
	case KEY_BLOCKING:
		return &options->blocking;
	case KEY_DRY_RUN:
		return &options->dry_run;
	case KEY_WAIT:
		return &options->wait;
	case KEY_KEEP:
		return &options->keep;
	case 'f':
		return &options->follow;
	}
	return NULL;
}

static int set_argument(struct options *options, int key, const char *argument)
{
	switch (key) {
	case 's':
		options->socket = argument;
		return *argument ? 0 : -EINVAL;
	case KEY_TIMEOUT:
		return parse_duration(argument, &options->timeout_usec);
	case KEY_REASON:
		options->reason = argument;
		return 0;
	case KEY_WHY:
		options->why = argument;
		return 0;
	case KEY_TTL:
		return set_ttl(options, argument);
	case KEY_ON_SHUTDOWN:
		return parse_signal(argument, &options->on_shutdown);
	case KEY_FOR:
		return set_until(options, argument);
	case KEY_SCOPE:
		return set_scope(options, argument);
	case 'p':
		return add_property(options, argument);
	case 'n':
		return set_lines(options, argument);
	case KEY_REPORT:
		options->report = argument;
		return *argument ? 0 : -EINVAL;
	case KEY_GRACE:
		return parse_duration(argument, &options->grace_usec);
	case KEY_CONFIG:
		return add_config(options, argument);
	case KEY_LAST:
		return parse_uint(argument, UINT32_MAX, &options->last);
	}
	return -EINVAL;
}

int options_set(struct options *options, int key, const char *argument)
{
	bool *flag = flag_of(options, key);

	if (!flag)
		return set_argument(options, key, argument);
	*flag = true;
	return 0;
}

bool option_is_for(const struct option_row *row, const char *verb)
{
	char word[32];

	if (!row->verbs)
		return true;
	(void)snprintf(word, sizeof(word), " %s ", verb);
	return strstr(row->verbs, word);
}
