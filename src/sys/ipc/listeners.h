#pragma once

/* The sockets that listen at an address of TCP, and the processes that hold them. */

#include "base/std.h"

#define LISTENERS_MAX 32

struct listeners {
	unsigned n;
	uint64_t inodes[LISTENERS_MAX];
	uid_t uid; /* of the last one */
};

/*
 * Finds the listeners of this network namespace that a connection to @address may reach.
 *
 * Return: 0; -E2BIG if there are more than LISTENERS_MAX; or -errno.
 */
int listeners_find(const struct sockaddr *address, struct listeners *ret);

bool listeners_have(const struct listeners *listeners, uint64_t inode);

/* Returns true if @pid holds one of them.  *budget is lowered by the descriptors looked at. */
bool listeners_held_by(const struct listeners *listeners, pid_t pid, unsigned *budget);

/*
 * Calls @each for the processes that hold one of them, until it returns true.  Processes of other
 * users are not seen without privileges.
 *
 * Return: 1 if @each has returned true; 0; -E2BIG if *budget descriptors were not enough; or
 * -errno.
 */
int listeners_each_holder(const struct listeners *listeners, unsigned *budget,
			  bool (*each)(pid_t pid, void *arg), void *arg);
