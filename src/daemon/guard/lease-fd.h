#pragma once

/*
 * A lease that lasts until the other end of a descriptor is closed by all processes that have it.
 */

#include "daemon/guard/lease.h"

#define LEASE_FDS_MAX 64 /* of one node */

enum lease_fd_refusal {
	LEASE_FD_FULL = LEASE_FULL + 1, /* LEASE_FDS_MAX */
	LEASE_FD_ENDLESS,		/* we would not hear of its end */
};

/* Takes @fd over, also on failure.  Return: 0; a lease_refusal or lease_fd_refusal; -errno. */
int lease_fd_new(struct node *node, const struct lease_wish *wish, int fd);

/* What is to be said when lease_fd_new() has returned @r, which is not 0. */
const char *lease_fd_refusal(int r);
