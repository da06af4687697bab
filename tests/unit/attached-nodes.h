#pragma once

/* Included before a test (-include): each of its roots is attached to a daemon, which ends at once. */

#include <stdlib.h>

#include "fake-daemon.h"
#include "swansong/attach.h"

static inline int swansong_new_attached(struct swansong **ret)
{
	struct fake_daemon daemon;

	if (!fake_daemon_make(&daemon, 2, FAKE_DAEMON_SEALS) || swansong_attach(ret) != 1)
		abort();
	fake_daemon_end(&daemon);
	return 0;
}

#define swansong_new swansong_new_attached
