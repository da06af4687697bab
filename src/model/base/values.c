/*
 * Only PROBE_LOG needs to know which member of the union a probe has: a compiled expression owns
 * memory beyond its struct.  Addresses are compared by bytes, so the unused ones are zero.
 */
#include "model/base/values.h"

int commands_add(struct commands *commands, char **argv)
{
	return array_append(commands->argv, commands->n, argv);
}

void probe_config_done(struct probe_config *probe)
{
	if (probe->kind == PROBE_LOG && probe->regex)
		regfree(probe->regex);
	free(probe->argv); /* all pointers of the union are at the same place */
	free(probe->text);
	*probe = (struct probe_config){ .kind = PROBE_NONE };
}

void credentials_done(struct credentials *credentials)
{
	free(credentials->groups);
	free(credentials->user);
	free(credentials->home);
	free(credentials->shell);
}

void listen_done(struct listen *listen, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(listen[i].address);
		free(listen[i].name);
	}
	free(listen);
}

const char *listen_prefix(enum listen_kind kind)
{
	static const char *const prefixes[] = {
		[LISTEN_TCP] = "tcp:",
		[LISTEN_UDP] = "udp:",
		[LISTEN_UNIX] = "unix:",
		[LISTEN_HTTP] = "http://",
	};

	return prefixes[kind];
}

/* The kind of the socket itself. */
static enum listen_kind listen_socket_kind(const struct listen *listen)
{
	return listen->kind == LISTEN_HTTP ? LISTEN_TCP : listen->kind;
}

int listen_compare(const struct listen *a, const struct listen *b)
{
	if (listen_socket_kind(a) != listen_socket_kind(b))
		return listen_socket_kind(a) < listen_socket_kind(b) ? -1 : 1;
	if (a->kind == LISTEN_UNIX)
		return strcmp(a->address, b->address);
	/* The other bytes of the union are zero. */
	return memcmp(&a->inet, &b->inet, sizeof(a->inet));
}

bool fdname_is_good(const char *name)
{
	size_t length = 0;

	for (; name[length]; length++)
		if (name[length] < ' ' || name[length] > '~' || name[length] == ':')
			return false;
	return length > 0 && length < FDNAME_MAX;
}
