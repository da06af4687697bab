/*
 * The usage of all services is that of one snapshot of /proc.  For one service with a control group only its
 * processes are read.
 */
#include "ctl/session/usage.h"

#include "sys/ipc/unixsock.h"

/* The processes of a service descend from the daemon, which the socket names. */
static pid_t usage_daemon_pid(const struct ctl *ctl)
{
	struct ucred peer;

	return ctl->client && unix_peer(client_get_fd(ctl->client), &peer) == 0 ? peer.pid : 0;
}

void usages_take(struct ctl *ctl, struct usages *ret)
{
	*ret = (struct usages){ .daemon = usage_daemon_pid(ctl) };
	if (ret->daemon > 0)
		(void)snapshot_take(&ret->snapshot);
}

bool usages_of_one(const struct ctl *ctl, const struct node_view *node, struct usage *ret)
{
	cleanup(freep) char *group = node_view_group(node);

	return group &&
	       usage_of_one((pid_t)node->service.pid, usage_daemon_pid(ctl), group, ret) == 0;
}

bool usages_of(const struct usages *usages, const struct node_view *node, struct usage *ret)
{
	cleanup(freep) char *group = node_view_group(node);

	return group && usage_of(&usages->snapshot, (pid_t)node->service.pid, usages->daemon, group,
				 ret) == 0;
}

char *usage_bytes_text(char buf[static USAGE_TEXT_MAX], uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	size_t unit = 0;
	double value = (double)bytes;

	for (; value >= 1024 && units[unit + 1]; unit++)
		value /= 1024;
	(void)snprintf(buf, USAGE_TEXT_MAX, unit && value < 100 ? "%.1f%c" : "%.0f%c", value,
		       units[unit]);
	return buf;
}
