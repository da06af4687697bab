/*
 * Only PROBE_LOG needs to know which member of the union a probe has: a compiled expression owns
 * memory beyond its struct.  Addresses are compared by bytes, so the unused ones are zero.
 */
#include "model/base/values.h"

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
	free(credentials->user_groups);
	free(credentials->user);
	free(credentials->login);
	free(credentials->home);
	free(credentials->shell);
}

static void credentials_add_groups(gid_t *groups, size_t *n, const gid_t *more, size_t n_more)
{
	for (size_t i = 0, k; i < n_more; i++) {
		for (k = 0; k < *n && groups[k] != more[i]; k++)
			continue;
		if (k == *n)
			groups[(*n)++] = more[i];
	}
}

int credentials_groups(const struct credentials *credentials, gid_t gid, gid_t **ret, size_t *n)
{
	gid_t *groups =
		calloc(1 + credentials->n_user_groups + credentials->n_groups, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	*n = 0;
	if (credentials->set)
		credentials_add_groups(groups, n, &gid, 1);
	for (size_t i = 0; i < credentials->n_user_groups; i++)
		if (credentials->user_groups[i] != credentials->user_gid)
			credentials_add_groups(groups, n, &credentials->user_groups[i], 1);
	credentials_add_groups(groups, n, credentials->groups, credentials->n_groups);
	*ret = groups;
	return 0;
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

int listen_compare(const void *one, const void *other)
{
	const struct listen *a = one, *b = other;

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
