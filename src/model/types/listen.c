/*
 * A socket is parsed in two steps: kind and options when the key is read, the address after
 * substitution, in listen_resolve().  The socket of an agent has no name, as no service is passed it.
 */
#include "model/types/type.h"

#include <sys/un.h>

#include "model/file/substitute.h"

static int listen_read_name(struct value *value, void *field)
{
	return value_copy(value->text, field);
}

static TYPE(listen_name, .parse = listen_read_name);

static const struct {
	const char *prefix;
	bool unix_only;
	const struct type *type;
	size_t offset;
} options[] = {
	{ "name=", false, &type_listen_name, offsetof(struct listen, name) },
	{ "mode=", true, &type_mode, offsetof(struct listen, mode) },
	{ "owner=", true, &type_uid, offsetof(struct listen, owner) },
	{ "group=", true, &type_gid, offsetof(struct listen, group) },
};

/* @given has a bit for each earlier option. */
static int listen_parse_option(struct value *value, const char *text, struct listen *listen,
			       unsigned *given)
{
	struct value option = { .names = value->names };
	size_t i = listen->name ? 0 : 1;
	int r;

	while (i < ARRAY_SIZE(options) &&
	       strncmp(text, options[i].prefix, strlen(options[i].prefix)) != 0)
		i++;
	if (i == ARRAY_SIZE(options))
		return value_refuse(value, "unknown option");
	if (*given & (1U << i))
		return value_refuse(value, "duplicate option");
	*given |= 1U << i;
	if (options[i].unix_only && listen->kind != LISTEN_UNIX)
		return value_refuse(value, "option that applies to unix: only");
	option.text = text + strlen(options[i].prefix);
	option.type = options[i].type;
	r = type_parse(&option, (char *)listen + options[i].offset);
	if (r == -EINVAL)
		return value_refuse(value, option.why ? "unknown owner or group"
						      : "invalid value of an option");
	return r;
}

/* @kinds has a bit for each that is accepted. */
static bool listen_parse_kind(const char *word, unsigned kinds, struct listen *listen)
{
	for (listen->kind = 0; listen->kind <= LISTEN_HTTP; listen->kind++) {
		const char *prefix = listen_prefix(listen->kind);

		if (kinds & 1U << listen->kind && strncmp(word, prefix, strlen(prefix)) == 0)
			return true;
	}
	return false;
}

/* Parses KIND:ADDRESS[,OPTION=VALUE]...; @name is the default. */
static int listen_parse_socket(struct value *value, const char *word, unsigned kinds,
			       const char *name, struct listen *listen)
{
	cleanup(freep) char *copy = NULL;
	unsigned given = 0;
	char *rest;
	int r = 0;

	*listen = (struct listen){ .mode = LISTEN_MODE_DEFAULT,
				   .owner = (uid_t)-1,
				   .group = (gid_t)-1 };
	if (!listen_parse_kind(word, kinds, listen))
		return value_refuse(value, "unknown kind of socket");
	rest = copy = strdup(word + strlen(listen_prefix(listen->kind)));
	if (!copy)
		return -ENOMEM;
	listen->address = strdup(strsep(&rest, ","));
	listen->name = name ? strdup(name) : NULL;
	if (!listen->address || (name && !listen->name))
		return -ENOMEM;
	while (r == 0 && rest)
		r = listen_parse_option(value, strsep(&rest, ","), listen, &given);
	return r;
}

#define KIND(name)   (1U << LISTEN_##name)
#define LISTEN_KINDS (KIND(TCP) | KIND(UDP) | KIND(UNIX))
#define AGENT_KINDS  (KIND(TCP) | KIND(UNIX) | KIND(HTTP))

/* The field is the whole struct extras. */
static int listen_parse(struct value *value, void *field)
{
	struct extras *extras = field;
	cleanup(freep) char **words = NULL;
	struct listen *listen;
	int r = 0, n = value_substituted_words(value, &words);

	if (n < 0)
		return n;
	if (n == 0 || n > CONFIG_LISTEN_MAX)
		return value_refuse(value, n ? "more than " STRINGIFY(CONFIG_LISTEN_MAX) " sockets"
					     : "no socket");
	listen = calloc((size_t)n, sizeof(*listen));
	if (!listen)
		return -ENOMEM;
	for (int i = 0; r == 0 && i < n; i++)
		r = listen_parse_socket(value, words[i], LISTEN_KINDS, LISTEN_NAME_DEFAULT,
					&listen[i]);
	if (r < 0) {
		listen_done(listen, (size_t)n);
		return r;
	}
	extras->listen = listen;
	extras->n_listen = (size_t)n;
	return 0;
}

static bool listen_socket_equal(const struct listen *l, const struct listen *m)
{
	return listen_compare(l, m) == 0 && l->kind == m->kind &&
	       value_equal_text(&l->name, &m->name) && l->mode == m->mode && l->owner == m->owner &&
	       l->group == m->group;
}

static bool listen_equal(const void *a, const void *b)
{
	const struct extras *x = a, *y = b;

	if (x->n_listen != y->n_listen)
		return false;
	for (size_t i = 0; i < x->n_listen; i++) {
		if (!listen_socket_equal(&x->listen[i], &y->listen[i]))
			return false;
	}
	return true;
}

/* Defaults are left out. */
static void listen_print_socket(FILE *file, const struct listen *l)
{
	(void)fprintf(file, "%s%s", listen_prefix(l->kind), l->address);
	if (l->name && strcmp(l->name, LISTEN_NAME_DEFAULT) != 0)
		(void)fprintf(file, ",name=%s", l->name);
	if (l->kind == LISTEN_UNIX && l->mode != LISTEN_MODE_DEFAULT)
		(void)fprintf(file, ",mode=%04o", l->mode);
	if (l->owner != (uid_t)-1)
		(void)fprintf(file, ",owner=%u", l->owner);
	if (l->group != (gid_t)-1)
		(void)fprintf(file, ",group=%u", l->group);
}

static void listen_print(FILE *file, const void *field)
{
	const struct extras *extras = field;

	for (size_t i = 0; i < extras->n_listen; i++) {
		(void)fputs(i ? " " : "", file);
		listen_print_socket(file, &extras->listen[i]);
	}
}

TYPE(listen, .parse = listen_parse, .equal = listen_equal, .print = listen_print,
     .expected = "tcp:ADDRESS:PORT, udp:ADDRESS:PORT or unix:PATH with an IPv4 address, an "
		 "[IPv6] address or localhost, each followed by ,name=NAME, and for unix: by "
		 ",mode=MODE ,owner=USER ,group=GROUP");

static int agent_parse(struct value *value, void *field)
{
	cleanup(freep) char **words = NULL;
	int r = value_substituted_words(value, &words);
	struct listen *agent;

	if (r < 0)
		return r;
	if (r != 1)
		return value_refuse(value, r ? "more than one socket" : "no socket");
	agent = calloc(1, sizeof(*agent));
	if (!agent)
		return -ENOMEM;
	r = listen_parse_socket(value, words[0], AGENT_KINDS, NULL, agent);
	if (r < 0)
		listen_done(agent, 1);
	else
		*(struct listen **)field = agent;
	return r;
}

static bool agent_equal(const void *a, const void *b)
{
	const struct listen *x = *(struct listen *const *)a, *y = *(struct listen *const *)b;

	return x && y ? listen_socket_equal(x, y) : x == y;
}

static void agent_print(FILE *file, const void *field)
{
	const struct listen *agent = *(struct listen *const *)field;

	if (agent)
		listen_print_socket(file, agent);
}

TYPE(agent, .parse = agent_parse, .equal = agent_equal, .print = agent_print,
     .expected = "tcp:ADDRESS:PORT or http://ADDRESS:PORT with an IPv4 address, an [IPv6] address "
		 "or localhost, or unix:PATH, perhaps with ,mode=MODE ,owner=USER ,group=GROUP");

/* The requirements of a listener at each kind of address. */
static int listen_check_address(struct listen *listen, const char **why)
{
	if (listen->kind != LISTEN_UNIX) {
		*why = "not an address and port";
		return value_address(listen->address, &listen->inet);
	}
	*why = "not an absolute path";
	if (*listen->address != '/')
		return -EINVAL;
	*why = "too long for the path of a socket";
	return strlen(listen->address) < sizeof(((struct sockaddr_un *)NULL)->sun_path) ? 0
											: -EINVAL;
}

int listen_resolve(struct listen *listen, const char *path, const char **why)
{
	int r;

	if (substitute_text_of(&listen->address, path) < 0 ||
	    substitute_text_of(&listen->name, path) < 0)
		return -ENOMEM;
	r = listen_check_address(listen, why);
	if (r == 0 && listen->name && !fdname_is_good(listen->name)) {
		*why = "invalid name of a descriptor";
		r = -EINVAL;
	}
	return r;
}
