#include "model/values-probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macro.h"
#include "base/parse.h"
#include "model/substitute.h"
#include "model/values-private.h"

#define FD_MAX		  1023
#define RETRIES_MAX	  1000
#define INTERVAL_MIN_USEC (10 * USEC_PER_MSEC)

static int read_fd(struct value *value, const char *text, struct probe_config *ret)
{
	uint64_t fd;

	if (parse_uint(text, FD_MAX, &fd) < 0)
		return -EINVAL;
	if (fd < 3)
		return value_refuse(value, "is a standard stream");
	ret->fd = (int)fd;
	return 0;
}

static int read_address(const char *text, struct probe_config *ret)
{
	ret->address = malloc(sizeof(*ret->address));
	return ret->address ? value_address(text, ret->address) : -ENOMEM;
}

static int read_tcp(struct value *value, const char *text, struct probe_config *ret)
{
	(void)value;
	return read_address(text, ret);
}

static int read_unix(struct value *value, const char *text, struct probe_config *ret)
{
	int r = value_check_path(value, text);

	(void)ret;
	return r < 0 ? r : value_check_substitutions(value);
}

/* HOST:PORT and, from the first slash on, what is asked for there; it goes out as it is. */
static int read_http(struct value *value, const char *text, struct probe_config *ret)
{
	const char *slash = strchrnul(text, '/');
	char host[64];

	for (const char *c = slash; *c; c++) {
		if (*c <= ' ' || *c > '~' || *c == '#')
			return value_refuse(value, "has a byte in its path that no URL has");
	}
	if ((size_t)(slash - text) >= sizeof(host))
		return -EINVAL;
	*(char *)mempcpy(host, text, (size_t)(slash - text)) = '\0';
	return read_address(host, ret);
}

static int read_exec(struct value *value, const char *text, struct probe_config *ret)
{
	struct value command = *value;
	int r;

	command.text = text;
	r = value_argv(&command, &ret->argv);
	value->why = command.why;
	return r;
}

/* A \1 is not of these expressions, and takes a time without end. */
static bool refers_back(const char *text)
{
	for (; *text; text++) {
		if (*text != '\\')
			continue;
		if (*++text >= '1' && *text <= '9')
			return true;
		if (!*text)
			break;
	}
	return false;
}

static int read_log(struct value *value, const char *text, struct probe_config *ret)
{
	static const char prefix[] = "cannot be used: ";
	cleanup(freep) regex_t *regex = NULL;
	int r;

	if (!*text)
		return value_refuse(value, "is found in any line");
	if (refers_back(text))
		return value_refuse(value, "refers back to what it has found");
	regex = malloc(sizeof(*regex));
	if (!regex)
		return -ENOMEM;
	r = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
	if (r == REG_ESPACE)
		return -ENOMEM;
	if (r != 0) {
		memcpy(value->reason, prefix, sizeof(prefix));
		(void)regerror(r, regex, value->reason + sizeof(prefix) - 1,
			       sizeof(value->reason) - sizeof(prefix) + 1);
		return value_refuse(value, value->reason);
	}
	ret->regex = take(regex);
	return 0;
}

static const struct way {
	const char *prefix;
	enum probe_kind kind;
	int (*read)(struct value *value, const char *text, struct probe_config *ret);
} ways[] = {
	{ "fd:", PROBE_FD, read_fd },	    { "tcp:", PROBE_TCP, read_tcp },
	{ "unix:", PROBE_UNIX, read_unix }, { "http://", PROBE_HTTP, read_http },
	{ "exec:", PROBE_EXEC, read_exec }, { "log:", PROBE_LOG, read_log },
};

static const struct way *find_way(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (strncmp(text, ways[i].prefix, strlen(ways[i].prefix)) == 0)
			return &ways[i];
	}
	return NULL;
}

static int read_probe(struct value *value, const struct choice *choices, struct probe_config *field)
{
	cleanup(probe_config_done) struct probe_config probe = { .kind = PROBE_NONE };
	const struct way *way = find_way(value->text);
	int kind, r;

	if (!way) {
		r = choice_find(choices, value->text, &kind);
		if (r < 0)
			return r;
		probe.kind = (enum probe_kind)kind;
	} else {
		const char *text = value->text + strlen(way->prefix);

		probe.kind = way->kind;
		r = way->read(value, text, &probe);
		if (r < 0)
			return r;
		if (way->kind > PROBE_TCP && value_copy(text, &probe.text) < 0)
			return -ENOMEM;
	}
	probe_config_done(field);
	*field = probe;
	probe = (struct probe_config){ .kind = PROBE_NONE };
	return 0;
}

static int value_ready(struct value *value, void *field)
{
	return read_probe(value, choices_ready, field);
}

/* What it says of itself is said once: it is no news later. */
static int value_health(struct value *value, void *field)
{
	const struct way *way = find_way(value->text);

	if (way && (way->kind < PROBE_TCP || way->kind == PROBE_LOG))
		return -EINVAL;
	return read_probe(value, choices_health, field);
}

/* Often is no loop, and seldom is not never. */
static int value_interval(struct value *value, void *field)
{
	uint64_t usec;

	if (parse_duration(value->text, &usec) < 0)
		return -EINVAL;
	if (usec < INTERVAL_MIN_USEC)
		return value_refuse(value, "is too short");
	if (usec == USEC_INFINITY)
		return value_refuse(value, "never ends");
	*(uint64_t *)field = usec;
	return 0;
}

static int value_retries(struct value *value, void *field)
{
	uint64_t n;

	if (parse_uint(value->text, RETRIES_MAX, &n) < 0 || n == 0)
		return -EINVAL;
	*(unsigned *)field = (unsigned)n;
	return 0;
}

static int value_on_unhealthy(struct value *value, void *field)
{
	return choice_find(choices_on_unhealthy, value->text, field);
}

static int resolve_path(struct probe_config *probe, const char *path, const char **why)
{
	const size_t room = sizeof(((struct sockaddr_un *)NULL)->sun_path);
	char *text;

	if (substitute_text(probe->text, path, &text) < 0)
		return -ENOMEM;
	free(probe->text);
	probe->text = text;
	if (strlen(text) < room)
		return 0;
	*why = "is longer than a socket's path can be";
	return -EINVAL;
}

static int resolve_argv(struct probe_config *probe, const char *path)
{
	char **argv;

	if (substitute_words(probe->argv, path, &argv) < 0)
		return -ENOMEM;
	free(probe->argv);
	probe->argv = argv;
	return 0;
}

int probe_resolve(struct probe_config *probe, const char *path, const char **why)
{
	switch (probe->kind) {
	case PROBE_UNIX:
		return resolve_path(probe, path, why);
	case PROBE_EXEC:
		return resolve_argv(probe, path);
	default:
		return 0;
	}
}

#define PROBES_ALLOWED                                                                             \
	"tcp:ADDRESS:PORT or http://ADDRESS:PORT/PATH with an IPv4 address, an [IPv6] address or " \
	"localhost, unix:PATH, exec:COMMAND"

const struct value_type type_ready = {
	value_ready, "started, notify, fd:N with N from 3 to " STRINGIFY(
			     FD_MAX) ", " PROBES_ALLOWED
				     ", or log:REGEX with a POSIX extended regular expression"
};
const struct value_type type_health = { value_health, "none, " PROBES_ALLOWED };
const struct value_type type_interval = {
	value_interval, "a duration of 10ms or more, such as 500ms, 10s or 1min"
};
const struct value_type type_retries = { value_retries,
					 "a number from 1 to " STRINGIFY(RETRIES_MAX) };
const struct value_type type_on_unhealthy = { value_on_unhealthy, "restart, shutdown or log" };
