/*
 * The rights are dropped once, before the loop.  At most CAP_DAC_OVERRIDE and CAP_CHOWN stay, and
 * execve(2) can add none.
 */
#include "logger/loop/sandbox.h"

#include <linux/capability.h>

#include "sys/rights/rights.h"

/* Allowed system calls beside those of every program (sys/rights/rights.h). */
/* clang-format off */
static const uint32_t allowed[] = {
	/* pipes */
	SYS_splice, SYS_close_range,
	/* memory */
	SYS_fallocate, SYS_memfd_create,
	/* files */
	SYS_openat, SYS_pwrite64, SYS_ftruncate, SYS_fsync, SYS_fchmod, SYS_fchown, SYS_mkdirat,
	SYS_renameat2, SYS_unlinkat, SYS_ioctl,
#ifdef SYS_renameat /* not on newer processors, such as riscv64 */
	SYS_renameat,
#endif
	/* helpers */
	SYS_clone, SYS_socketpair, SYS_wait4, SYS_prctl, SYS_setpriority, SYS_getppid,
	SYS_pidfd_open, SYS_pipe2, SYS_dup3, SYS_setpgid,
	/* a helper gives up further rights */
	SYS_capget, SYS_capset, SYS_seccomp, SYS_set_robust_list, SYS_rseq,
#ifdef __x86_64__ /* the older names of some of them, which the C library calls */
	SYS_open, SYS_mkdir, SYS_rename, SYS_unlink, SYS_fork,
#endif
};
/* clang-format on */

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
		.loop = true,
		.writes = true,
	};

	return rights_keep(&rights);
}
