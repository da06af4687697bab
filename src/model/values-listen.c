#include "model/values-listen.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "model/substitute.h"
#include "model/values-private.h"

static int read_mode(struct value *value, struct listen *listen)
{
	return value_mode(value, &listen->mode);
}

static int read_owner(struct value *value, struct listen *listen)
{
	return value_owner(value, &listen->owner);
}

static int read_group(struct value *value, struct listen *listen)
{
	return value_group(value, &listen->group);
}

static int read_name(struct value *value, struct listen *listen)
{
	char *name = strdup(value->text);

	if (!name)
		return -ENOMEM;
	free(listen->name);
	listen->name = name;
	return 0;
}

static const struct {
	const char *prefix; /* "mode=" */
	bool unix_only;
	int (*read)(struct value *value, struct listen *listen);
} options[] = {
	{ "name=", false, read_name },
	{ "mode=", true, read_mode },
	{ "owner=", true, read_owner },
	{ "group=", true, read_group },
};

/* @given has a bit for each option before this one. */
static int parse_option(struct value *value, const char *text, struct listen *listen,
			unsigned *given)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		struct value option = { .names = value->names };
		size_t length = strlen(options[i].prefix);
		int r;

		if (strncmp(text, options[i].prefix, length) != 0)
			continue;
		if (*given & (1U << i))
			return value_refuse(value, "has an option twice");
		*given |= 1U << i;
		if (options[i].unix_only && listen->kind != LISTEN_UNIX)
			return value_refuse(value, "has an option that is for unix: only");
		option.text = text + length;
		r = options[i].read(&option, listen);
		if (r == -EINVAL)
			return value_refuse(value, option.why ? "has an owner or group that is not "
								"to be found"
							      : "has an option with a bad value");
		return r;
	}
	return value_refuse(value, "has an unknown option");
}

static bool parse_kind(const char *word, struct listen *listen)
{
	static const enum listen_kind kinds[] = { LISTEN_TCP, LISTEN_UDP, LISTEN_UNIX };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *prefix = listen_prefix(kinds[i]);

		if (strncmp(word, prefix, strlen(prefix)) == 0) {
			listen->kind = kinds[i];
			return true;
		}
	}
	return false;
}

/* One word: KIND:ADDRESS[,OPTION=VALUE]... */
static int parse_socket(struct value *value, const char *word, struct listen *listen)
{
	cleanup(freep) char *copy = NULL;
	unsigned given = 0;
	char *rest;
	int r = 0;

	*listen = (struct listen){ .mode = LISTEN_MODE_DEFAULT,
				   .owner = (uid_t)-1,
				   .group = (gid_t)-1 };
	if (!parse_kind(word, listen))
		return value_refuse(value, "has a socket that is none of tcp:, udp: and unix:");
	rest = copy = strdup(word + strlen(listen_prefix(listen->kind)));
	if (!copy)
		return -ENOMEM;
	listen->address = strdup(strsep(&rest, ","));
	listen->name = strdup(LISTEN_NAME_DEFAULT);
	if (!listen->address || !listen->name)
		return -ENOMEM;
	while (r == 0 && rest)
		r = parse_option(value, strsep(&rest, ","), listen, &given);
	return r;
}

static int value_listen(struct value *value, void *field)
{
	struct section *section = field;
	cleanup(freep) char **words = NULL;
	struct listen *listen;
	int r = 0, n = value_substituted_words(value, &words);

	if (n < 0)
		return n;
	if (n == 0 || n > CONFIG_LISTEN_MAX)
		return value_refuse(value,
				    n ? "has more than " STRINGIFY(CONFIG_LISTEN_MAX) " sockets"
				      : "names no socket");
	listen = calloc((size_t)n, sizeof(*listen));
	if (!listen)
		return -ENOMEM;
	for (int i = 0; r == 0 && i < n; i++)
		r = parse_socket(value, words[i], &listen[i]);
	if (r < 0) {
		listen_done(listen, (size_t)n);
		return r;
	}
	section->listen = listen;
	section->n_listen = (size_t)n;
	return 0;
}

/* What a listener at each kind of address needs of that. */
static int check_address(struct listen *listen, const char **why)
{
	if (listen->kind != LISTEN_UNIX) {
		*why = "is no address and port";
		return value_address(listen->address, &listen->inet);
	}
	*why = "is no absolute path";
	if (*listen->address != '/')
		return -EINVAL;
	*why = "is longer than a socket's path can be";
	return strlen(listen->address) < sizeof(((struct sockaddr_un *)NULL)->sun_path) ? 0
											: -EINVAL;
}

int listen_resolve(const struct listen *stated, const char *path, struct listen *ret,
		   const char **why)
{
	int r;

	*ret = *stated;
	ret->address = ret->name = NULL;
	if (substitute_text(stated->address, path, &ret->address) < 0 ||
	    substitute_text(stated->name, path, &ret->name) < 0)
		return -ENOMEM;
	r = check_address(ret, why);
	if (r == 0 && !fdname_is_good(ret->name)) {
		*why = "has a name that is no name of a descriptor";
		r = -EINVAL;
	}
	return r;
}

const struct value_type type_listen = {
	value_listen,
	"tcp:ADDRESS:PORT, udp:ADDRESS:PORT or unix:PATH with an IPv4 address, an [IPv6] address or "
	"localhost, each followed by ,name=NAME, and for unix: by ,mode=MODE ,owner=USER ,group=GROUP"
};
