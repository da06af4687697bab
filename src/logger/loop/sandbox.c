/*
 * The rights are dropped once, before the loop.  At most CAP_DAC_OVERRIDE stays, and execve(2) can
 * add none.  On known architectures a filter refuses all system calls that are not in a list: with
 * EPERM; clone3 with ENOSYS, so that the C library uses clone; a socket has to be of the domain
 * AF_UNIX.
 */
#include "logger/loop/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"

/* A sanitizer makes system calls of its own. */
#if defined(__SANITIZE_ADDRESS__)
#elif defined(__x86_64__)
#define SANDBOX_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SANDBOX_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define SANDBOX_ARCH AUDIT_ARCH_RISCV64
#endif

/* Directories and files of any owner are opened; nothing else that only root may do. */
#define SANDBOX_CAPABILITIES (UINT32_C(1) << CAP_DAC_OVERRIDE)

static int sandbox_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	uint32_t kept;

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	/* Only with a capability of its own; no_new_privs does as much for what comes later. */
	for (unsigned long c = 0; prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
		if (c != CAP_DAC_OVERRIDE)
			(void)prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	kept = data[0].permitted & SANDBOX_CAPABILITIES;
	data[0] = (struct __user_cap_data_struct){ .effective = kept, .permitted = kept };
	data[1] = (struct __user_cap_data_struct){ 0 };
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

#ifdef SANDBOX_ARCH

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
	SYS_mkdirat,
	SYS_renameat2,
	SYS_renameat,
	SYS_unlinkat,
	SYS_getdents64,
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

#define LOAD(member) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, member))
#define RETURN(action)	   BPF_STMT(BPF_RET | BPF_K, action)
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)

/* A forbidden call fails with EPERM, as without a privilege. */
static int sandbox_filter(void)
{
	struct sock_filter filter[2 * ARRAY_SIZE(allowed) + 16] = {
		LOAD(arch),
		IS(SANDBOX_ARCH, 1, 0),
		RETURN(SECCOMP_RET_ERRNO | EPERM),
		LOAD(nr),
		IS(SYS_clone3, 0, 1),
		RETURN(SECCOMP_RET_ERRNO | ENOSYS),
		IS(SYS_socket, 0, 4),
		LOAD(args[0]),
		IS(AF_UNIX, 0, 1),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { .len = 11, .filter = filter };

	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++) {
		filter[program.len++] = (struct sock_filter)IS(allowed[i], 0, 1);
		filter[program.len++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	}
	filter[program.len++] = (struct sock_filter)RETURN(SECCOMP_RET_ERRNO | EPERM);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

#else

static int sandbox_filter(void)
{
	return 0;
}

#endif

int sandbox_enter(void)
{
	int r = sandbox_capabilities();

	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	r = sandbox_filter();
	/* A kernel without filters. */
	return r == -ENOSYS || r == -EINVAL ? 0 : r;
}
