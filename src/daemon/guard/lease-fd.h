#pragma once

/* A lease on a descriptor, which lasts until all processes have closed the other end. */

#include "daemon/guard/lease.h"

#define LEASE_FDS_MAX 64 /* of one node */

enum lease_fd_refusal {
	LEASE_FD_FULL = LEASE_FULL + 1, /* LEASE_FDS_MAX */
	LEASE_FD_ENDLESS,		/* its end would not be reported */
};

/*
 * Makes a lease on @node that lasts as long as @fd, and takes ownership of @fd.
 * Return: 0.  Else @fd is still the caller's, and the result is a lease_refusal or lease_fd_refusal, or -errno.
 */
int lease_fd_new(struct node *node, const struct lease_wish *wish, int fd);

/* Returns the text for the result @r of lease_fd_new(), which must not be 0. */
const char *lease_fd_refusal(int r);
