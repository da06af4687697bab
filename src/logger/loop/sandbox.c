/*
 * The rights are dropped once, before the loop.  At most CAP_DAC_OVERRIDE and CAP_CHOWN stay, and
 * execve(2) can add none.
 */
#include "logger/loop/sandbox.h"

#include <linux/capability.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "base/macro.h"
#include "sys/rights/rights.h"

static const uint32_t allowed[] = {
	/* the loop and the pipes */
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_timerfd_settime,
	SYS_splice,
	SYS_lseek,
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_pwrite64,
	SYS_recvmsg,
	SYS_sendmsg,
	SYS_recvfrom,
	SYS_sendto,
	SYS_ppoll,
	SYS_fcntl,
	SYS_close,
	SYS_close_range,
	SYS_clock_gettime,
	SYS_gettimeofday,
	/* memory */
	SYS_brk,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_fallocate,
	SYS_memfd_create,
	SYS_getrandom,
	/* files */
	SYS_openat,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_ftruncate,
	SYS_fsync,
	SYS_fchmod,
	SYS_fchown,
	SYS_mkdirat,
	SYS_renameat2,
	SYS_renameat,
	SYS_unlinkat,
	SYS_getdents64,
	SYS_readlinkat,
	SYS_faccessat,
	SYS_ioctl,
	/* the journal; the domain is checked */
	SYS_connect,
	SYS_setsockopt,
	/* helpers */
	SYS_clone,
	SYS_socketpair,
	SYS_wait4,
	SYS_prctl,
	SYS_setpriority,
	SYS_getpid,
	SYS_getppid,
	SYS_gettid,
	SYS_pidfd_open,
	SYS_pipe2,
	SYS_dup3,
	SYS_setpgid,
	/* a helper gives up further rights */
	SYS_capget,
	SYS_capset,
	SYS_seccomp,
	SYS_set_robust_list,
	SYS_exit,
	SYS_exit_group,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_restart_syscall,
	SYS_futex,
	SYS_geteuid,
	SYS_rseq,
	SYS_tgkill,
#ifdef __x86_64__ /* the older names of some of them, which the C library calls */
	SYS_epoll_wait,
	SYS_poll,
	SYS_open,
	SYS_stat,
	SYS_lstat,
	SYS_mkdir,
	SYS_rename,
	SYS_unlink,
	SYS_access,
	SYS_fork,
	SYS_time,
#endif
};

int sandbox_enter(void)
{
	static const struct rights rights = {
		/*
		 * Directories and files of any owner are opened, and a rotated file has a successor
		 * of the same owner.
		 */
		.capabilities = UINT32_C(1) << CAP_DAC_OVERRIDE | UINT32_C(1) << CAP_CHOWN,
		.calls = allowed,
		.n_calls = ARRAY_SIZE(allowed),
		.writes = true,
	};

	return rights_keep(&rights);
}
