/*
 * Started by root, the exporter stays uid 0, which owns the control socket and the files of the past: it
 * reads them without a capability.
 */
#include "exporter/limits/sandbox.h"

#include <sys/syscall.h>

#include "base/macro.h"
#include "sys/rights/rights.h"

static const uint32_t allowed[] = {
	/* the loop */
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_epoll_create1,
	SYS_timerfd_create,
	SYS_timerfd_settime,
	SYS_eventfd2,
	SYS_ppoll,
	SYS_clock_gettime,
	SYS_gettimeofday,
	/* clients, and the daemon */
	SYS_accept,
	SYS_accept4,
	SYS_connect,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_getsockname,
	SYS_getpeername,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_sendto,
	SYS_sendmsg,
	SYS_shutdown,
	SYS_read,
	SYS_readv,
	SYS_pread64,
	SYS_write,
	SYS_writev,
	SYS_pipe2,
	SYS_fcntl,
	SYS_dup3,
	SYS_close,
	/* files, which are only read */
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_fstatfs,
	SYS_statfs,
	SYS_lseek,
	SYS_getdents64,
	SYS_readlinkat,
	SYS_faccessat,
	/* memory */
	SYS_brk,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_getrandom,
	/* the process */
	SYS_getpid,
	SYS_gettid,
	SYS_getuid,
	SYS_geteuid,
	SYS_sysinfo,
	SYS_uname,
	SYS_sched_getaffinity,
	SYS_futex,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_restart_syscall,
	SYS_tgkill,
	SYS_exit,
	SYS_exit_group,
#ifdef __x86_64__ /* the older names of some of them, which the C library calls */
	SYS_epoll_wait,
	SYS_poll,
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_time,
#endif
};

int sandbox_enter(void)
{
	static const struct rights rights = { .calls = allowed, .n_calls = ARRAY_SIZE(allowed) };

	return rights_keep(&rights);
}
