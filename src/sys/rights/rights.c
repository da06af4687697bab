/*
 * The rights are given up once, before a loop: capabilities first, in all of their sets, then system
 * calls by a filter, which needs no_new_privs.
 */
#include "sys/rights/rights.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#if defined(__SANITIZE_ADDRESS__)
#elif defined(__x86_64__)
#define RIGHTS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define RIGHTS_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define RIGHTS_ARCH AUDIT_ARCH_RISCV64
#endif

static int rights_drop_capabilities(uint32_t kept)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	uint32_t all;

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	/* Needs a capability; else no_new_privs limits later programs as well. */
	for (unsigned long c = 0; prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
		if (c >= 32 || !(kept & UINT32_C(1) << c))
			(void)prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
	all = data[0].permitted | data[0].inheritable | data[1].permitted | data[1].inheritable;
	/*
	 * The ambient ones are among them.  A filter of the parent manager may forbid calls that change
	 * nothing.
	 */
	if (!all)
		return 0;
	kept &= data[0].permitted;
	data[0] = (struct __user_cap_data_struct){ .effective = kept, .permitted = kept };
	data[1] = (struct __user_cap_data_struct){ 0 };
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

#ifdef RIGHTS_ARCH

#define LOAD(member) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, member))
#define RETURN(action)	    BPF_STMT(BPF_RET | BPF_K, action)
#define IS(value, yes, no)  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define HAS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, value, yes, no)
#define DENY		    RETURN(SECCOMP_RET_ERRNO | EPERM)
#define ALLOW		    RETURN(SECCOMP_RET_ALLOW)
#define WRITING		    (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

/* Each group of instructions begins and ends with the number of the call loaded. */
static const struct sock_filter filter_head[] = {
	LOAD(arch),
	IS(RIGHTS_ARCH, 1, 0),
	DENY,
	LOAD(nr),
	IS(SYS_clone3, 0, 1),
	RETURN(SECCOMP_RET_ERRNO | ENOSYS),
	IS(SYS_socket, 0, 4),
	LOAD(args[0]),
	IS(AF_UNIX, 0, 1),
	ALLOW,
	DENY,
};

static const struct sock_filter filter_reading[] = {
	IS(SYS_openat, 0, 4), LOAD(args[2]), HAS(WRITING, 1, 0), ALLOW, DENY,
#ifdef SYS_open
	IS(SYS_open, 0, 4),   LOAD(args[1]), HAS(WRITING, 1, 0), ALLOW, DENY,
#endif
};

/* Calls that every program makes with a loop, sockets and files, or that the C library makes for it. */
static const uint32_t basic[] = {
	/* the loop */
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_timerfd_settime,
	SYS_ppoll,
	SYS_clock_gettime,
	SYS_gettimeofday,
	/* pipes and sockets */
	SYS_connect,
	SYS_setsockopt,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_sendto,
	SYS_sendmsg,
	SYS_read,
	SYS_readv,
	SYS_pread64,
	SYS_write,
	SYS_writev,
	SYS_fcntl,
	SYS_close,
	/* files */
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
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
	SYS_geteuid,
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
	SYS_time,
#endif
};

static void rights_allow(struct sock_fprog *program, const uint32_t *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		program->filter[program->len++] = (struct sock_filter)IS(calls[i], 0, 1);
		program->filter[program->len++] = (struct sock_filter)ALLOW;
	}
}

static int rights_filter(const struct rights *rights)
{
	struct sock_filter filter[ARRAY_SIZE(filter_head) + ARRAY_SIZE(filter_reading) +
				  2 * (ARRAY_SIZE(basic) + RIGHTS_CALLS_MAX) + 1];
	struct sock_fprog program = { .len = ARRAY_SIZE(filter_head), .filter = filter };

	if (rights->n_calls > RIGHTS_CALLS_MAX)
		return -E2BIG;
	memcpy(filter, filter_head, sizeof(filter_head));
	if (!rights->writes) {
		memcpy(filter + program.len, filter_reading, sizeof(filter_reading));
		program.len += ARRAY_SIZE(filter_reading);
	}
	if (rights->loop)
		rights_allow(&program, basic, ARRAY_SIZE(basic));
	rights_allow(&program, rights->calls, rights->n_calls);
	filter[program.len++] = (struct sock_filter)DENY;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

#else

static int rights_filter(const struct rights *rights)
{
	return 0;
}

#endif

int rights_keep(const struct rights *rights)
{
	int r = rights_drop_capabilities(rights->capabilities);

	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	r = rights_filter(rights);
	/* A kernel without filters. */
	return r == -ENOSYS || r == -EINVAL ? 0 : r;
}
