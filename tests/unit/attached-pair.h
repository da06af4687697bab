#pragma once

/* A root that is attached, with a node below it, and the daemon, which the test plays in the same process. */

#include <string.h>

#include "base/clock.h"
#include "fake-daemon.h"
#include "swansong-pair.h"

#define LANES 4
#define LONG  (30 * USEC_PER_SEC)

static struct fake_daemon fake;

static inline void make_daemon(void)
{
	ck_assert(fake_daemon_make(&fake, LANES, FAKE_DAEMON_SEALS));
}

static inline void hear(const char *message)
{
	char buf[PAGE_MESSAGE_MAX + 1] = "";
	struct pollfd p = { .fd = fake.socket, .events = POLLIN };

	ck_assert_int_eq(poll(&p, 1, (int)(LONG / USEC_PER_MSEC)), 1);
	ck_assert_int_ge(recv(fake.socket, buf, PAGE_MESSAGE_MAX, 0), 0);
	ck_assert_str_eq(buf, message);
}

static inline void say(const char *message)
{
	ck_assert_int_eq(send(fake.socket, message, strlen(message), MSG_NOSIGNAL),
			 (ssize_t)strlen(message));
}

static inline void make_attached(void)
{
	make_daemon();
	ck_assert_int_eq(swansong_attach(&root), 1);
	ck_assert_int_eq(swansong_child(root, &child), 0);
	hear("ATTACHED");
}

/* The end of the thread, which closes the socket, and of the tree. */
static inline void drop_attached(void)
{
	drop_pair();
	if (fake.socket < 0)
		return;
	hear("COMPLETE");
	hear("");
	fake_daemon_end(&fake);
}
