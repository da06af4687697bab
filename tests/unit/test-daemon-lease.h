#pragma once

/* Leases of the group "web", below the root; nothing ever runs. */

#include "daemon/lease.h"
#include "main.h"
#include "tree-world.h"

extern struct node *web;

/* What the holder of the last lease has heard. */
extern unsigned lost;

int take_of(uid_t uid, uint64_t ttl_usec, bool late, struct lease **ret);

/* What follows in daemon.c from an event. */
void settle(void);

/* Waits for one event, and for what follows; each test has a timeout. */
void turn(void);

/* Whose tests have such a tree each. */
TCase *lease_case(const char *name);

TCase *lease_fd_tests(void);
