/*
 * A probe is a word, or a prefix with a text.  The prefix selects the function that parses the text
 * into its member of the union in struct probe_config.
 */
#include "model/types/type.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include "model/file/substitute.h"

/* Types of the checks of readiness and health. */

#define FD_MAX 1023

static int probe_read_fd(struct value *value, const char *text, struct probe_config *ret)
{
	uint64_t fd;

	if (parse_uint(text, FD_MAX, &fd) < 0)
		return -EINVAL;
	if (fd < 3)
		return value_refuse(value, "descriptor of a standard stream");
	ret->fd = (int)fd;
	return 0;
}

/* An address with substitutions is read when these are resolved: ret->address stays NULL. */
static int probe_read_tcp(struct value *value, const char *text, struct probe_config *ret)
{
	const char *colon = strrchr(text, ':');

	if (strchr(text, '%'))
		return substitute_check(text) ? value_refuse(value, "invalid substitution") : 0;
	if (!colon || strchr(colon, ']'))
		return value_refuse(value, "no port");
	ret->address = malloc(sizeof(*ret->address));
	return ret->address ? value_address(text, ret->address) : -ENOMEM;
}

static int probe_read_unix(struct value *value, const char *text, struct probe_config *ret)
{
	int r = value_check_path(value, text);

	return r < 0 ? r : value_check_substitutions(value);
}

/* HOST:PORT and, from the first slash on, the path, which is sent unchanged but for %n and %i. */
static int probe_read_http(struct value *value, const char *text, struct probe_config *ret)
{
	const char *slash = strchrnul(text, '/');
	char host[64];

	for (const char *c = slash; *c; c++) {
		if (*c <= ' ' || *c > '~' || *c == '#')
			return value_refuse(value, "invalid character in the path of the URL");
	}
	return value_part(host, sizeof(host), text, slash) ? probe_read_tcp(value, host, ret)
							   : -EINVAL;
}

static int probe_read_exec(struct value *value, const char *text, struct probe_config *ret)
{
	struct value command = *value;
	int r;

	command.text = text;
	r = value_argv(&command, &ret->argv);
	value->why = command.why;
	return r;
}

/* A back-reference is not part of extended expressions, and may take unbounded time. */
static bool probe_refers_back(const char *text)
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

static int probe_read_log(struct value *value, const char *text, struct probe_config *ret)
{
	static const char prefix[] = "invalid expression: ";
	cleanup(freep) regex_t *regex = NULL;
	int r;

	if (!*text)
		return value_refuse(value, "matches every line");
	if (probe_refers_back(text))
		return value_refuse(value, "back-references are not supported");
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

static const struct choice words[] = {
	{ "none", PROBE_NONE },
	{ "started", PROBE_STARTED }, /* from here on of ready */
	{ "notify", PROBE_NOTIFY },
	{},
};

static const struct prefix {
	const char *text;
	int (*read)(struct value *value, const char *text, struct probe_config *ret);
} prefixes[] = {
	[PROBE_FD] = { "fd:", probe_read_fd },	     [PROBE_TCP] = { "tcp:", probe_read_tcp },
	[PROBE_UNIX] = { "unix:", probe_read_unix }, [PROBE_HTTP] = { "http://", probe_read_http },
	[PROBE_EXEC] = { "exec:", probe_read_exec }, [PROBE_LOG] = { "log:", probe_read_log },
};

/* PROBE_NONE: the text has no prefix. */
static enum probe_kind probe_find_kind(const char *text)
{
	for (enum probe_kind kind = PROBE_FD; kind <= PROBE_LOG; kind++)
		if (strncmp(text, prefixes[kind].text, strlen(prefixes[kind].text)) == 0)
			return kind;
	return PROBE_NONE;
}

static int ready_parse(struct value *value, void *field)
{
	cleanup(probe_config_done) struct probe_config probe = { .kind = probe_find_kind(
									 value->text) };
	int r, kind;

	if (probe.kind == PROBE_NONE) {
		r = choice_find(value->type->choices, value->text, &kind);
		probe.kind = r == 0 ? (enum probe_kind)kind : PROBE_NONE;
	} else {
		const char *text = value->text + strlen(prefixes[probe.kind].text);

		r = prefixes[probe.kind].read(value, text, &probe);
		if (r == 0 && (probe.kind > PROBE_TCP || strchr(text, '%')))
			r = value_copy(text, &probe.text);
	}
	if (r < 0)
		return r;
	*(struct probe_config *)field = probe;
	probe = (struct probe_config){ .kind = PROBE_NONE };
	return 0;
}

/* Not notify and log: they show readiness once, and nothing later. */
static int health_parse(struct value *value, void *field)
{
	enum probe_kind kind = probe_find_kind(value->text);

	if (kind == PROBE_NONE ? strcmp(value->text, "none") != 0
			       : kind < PROBE_TCP || kind == PROBE_LOG)
		return -EINVAL;
	return ready_parse(value, field);
}

static bool probe_equal(const void *a, const void *b)
{
	const struct probe_config *x = a, *y = b;

	if (x->kind != y->kind || x->fd != y->fd || !value_equal_text(&x->text, &y->text))
		return false;
	/* The other bytes of an address are zero. */
	if (x->kind == PROBE_TCP || x->kind == PROBE_HTTP)
		return memcmp(x->address, y->address, sizeof(*x->address)) == 0;
	return x->kind != PROBE_EXEC || value_equal_words(&x->argv, &y->argv);
}

static void probe_print_address(FILE *file, const union inet_address *address)
{
	bool six = address->any.sa_family == AF_INET6;
	char host[INET6_ADDRSTRLEN] = "";

	(void)inet_ntop(address->any.sa_family,
			six ? (const void *)&address->in6.sin6_addr : &address->in.sin_addr, host,
			sizeof(host));
	(void)fprintf(file, six ? "[%s]:%u" : "%s:%u", host, ntohs(values_inet_port(address)));
}

static void probe_print(FILE *file, const void *field)
{
	const struct probe_config *probe = field;
	const char *word = choice_name(words, (int)probe->kind);

	(void)fputs(word ? word : prefixes[probe->kind].text, file);
	if (word)
		return;
	if (probe->kind == PROBE_FD)
		(void)fprintf(file, "%d", probe->fd);
	else if (probe->kind == PROBE_TCP)
		probe_print_address(file, probe->address);
	else
		value_print_line(file, probe->text);
}

/* Other percent signs in the path of a URL are left to the server: each is doubled. */
static int probe_escape_path(struct probe_config *probe)
{
	struct memstream m;
	char *escaped;
	int r = memstream_open(&m);

	if (r < 0)
		return r;
	for (const char *c = probe->text, *path = strchrnul(c, '/'); *c; c++)
		(void)fprintf(m.file,
			      c >= path && *c == '%' && c[1] != 'n' && c[1] != 'i' ? "%%%c" : "%c",
			      *c);
	r = memstream_close(&m, &escaped);
	if (r < 0)
		return r;
	free(probe->text);
	probe->text = escaped;
	return 0;
}

static int probe_resolve_address(struct value *value, struct probe_config *probe)
{
	int (*const read)(struct value *, const char *, struct probe_config *) =
		prefixes[probe->kind].read;
	union inet_address *known = probe->address;
	int r = probe->kind == PROBE_HTTP ? probe_escape_path(probe) : 0;

	if (r == 0)
		r = substitute_text_of(&probe->text, value->path);
	value->text = probe->text;
	if (r == 0 && !known)
		r = read(value, probe->text, probe);
	if (r == 0 && !probe->address)
		r = value_refuse(value, "not an address and port");
	if (r == 0 && probe->kind == PROBE_TCP) {
		probe->text = free_memory(probe->text);
	}
	return r;
}

static int probe_resolve(struct value *value, void *field)
{
	const size_t room = sizeof(((struct sockaddr_un *)NULL)->sun_path);
	struct probe_config *probe = field;

	if (probe->kind == PROBE_EXEC)
		return substitute_words_of(&probe->argv, value->path);
	if ((probe->kind == PROBE_TCP || probe->kind == PROBE_HTTP) && probe->text)
		return probe_resolve_address(value, probe);
	if (probe->kind != PROBE_UNIX)
		return 0;
	if (substitute_text_of(&probe->text, value->path) < 0)
		return -ENOMEM;
	value->text = probe->text;
	return strlen(probe->text) < room
		       ? 0
		       : value_refuse(value, "too long for the path of a socket");
}

#define PROBES_EXPECTED                                                                            \
	"tcp:ADDRESS:PORT or http://ADDRESS:PORT/PATH with an IPv4 address, an [IPv6] address or " \
	"localhost, unix:PATH, exec:COMMAND"

TYPE(ready, .parse = ready_parse, .equal = probe_equal, .print = probe_print,
     .resolve = probe_resolve,
     .expected = "started, notify, fd:N with N from 3 to " STRINGIFY(
	     FD_MAX) ", " PROBES_EXPECTED ", or log:REGEX with a POSIX extended regular expression",
     .choices = &words[1]);

TYPE(health, .parse = health_parse, .equal = probe_equal, .print = probe_print,
     .resolve = probe_resolve, .expected = "none, " PROBES_EXPECTED, .choices = words);
