#pragma once

/* Leases on the group "web" below the root; no process ever runs. */

#include "daemon/guard/lease.h"
#include "tests/unit/fixtures/daemon/tree-world.h"

extern struct node *web;

/* Number of lost leases. */
extern unsigned lost;

int take_of(uid_t uid, uint64_t ttl_usec, bool late, struct lease **ret);

/* Waits for one event of the loop and runs update turns; each test has a timeout. */
void wait_for_event(void);

/* A test case with such a tree for each test. */
TCase *lease_case(const char *name);

TCase *lease_fd_tests(void);
