/*
 * Started by root, the exporter stays uid 0, which owns the control socket and the files of the past: it
 * reads them without a capability.
 */
#include "exporter/limits/sandbox.h"

#include "sys/rights/rights.h"

/* Allowed system calls beside those of every program (sys/rights/rights.h). */
/* clang-format off */
static const uint32_t allowed[] = {
	/* the loop */
	SYS_epoll_create1, SYS_timerfd_create, SYS_eventfd2,
	/* clients, and the daemon */
	SYS_accept, SYS_accept4, SYS_getsockopt, SYS_getsockname, SYS_getpeername, SYS_shutdown,
	SYS_pipe2, SYS_dup3,
	/* files, which are only read */
	SYS_fstatfs, SYS_statfs,
	/* the process */
	SYS_getuid, SYS_sysinfo, SYS_uname, SYS_sched_getaffinity,
#ifdef __x86_64__ /* an older name, which the C library calls */
	SYS_readlink,
#endif
};
/* clang-format on */

int sandbox_enter(void)
{
	static const struct rights rights = {
		.calls = allowed,
		.n_calls = ARRAY_SIZE(allowed),
		.loop = true,
	};

	return rights_keep(&rights);
}
