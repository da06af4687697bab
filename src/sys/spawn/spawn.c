/*
 * CLONE_VM and CLONE_VFORK: the child runs in the parent's memory, on its own stack, while the
 * parent is suspended.  glibc has no wrapper for clone3, and a plain syscall() cannot return twice
 * on one stack: so assembler switches to the child's function, on known architectures.  On others,
 * and where a sandbox refuses clone3, glibc's clone() does the same by the older call.
 */
#include "sys/spawn/spawn.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif

/* Hardened builds clear variables on the stack: not the child's whole stack at every start. */
#if __has_attribute(uninitialized)
#define UNINITIALIZED __attribute__((uninitialized))
#else
#define UNINITIALIZED
#endif

/*
 * AddressSanitizer keeps locals elsewhere, and drops those of all frames below a call that does not
 * return.  The child's stack is in a frame of the parent: so it would drop the locals of the
 * parent's frames that wait for the child.
 */
#define PLAIN_LOCALS __attribute__((no_sanitize_address))

struct start {
	const struct spawn_spec *spec;
	struct spawn_failure *failure;
	int flags;   /* CLONE_* */
	bool inside; /* the child is created in its control group */
};

static int spawn_run_child(void *arg)
{
	const struct start *s = arg;
	struct spawn_spec spec = *s->spec;

	if (s->inside)
		spec.cgroup = 0;
	child_run(&spec, s->failure);
}

/* The kernel's struct clone_args of Linux 5.7, whose header is not everywhere. */
struct clone3_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	uint64_t set_tid, set_tid_size, cgroup;
};

#if defined(__x86_64__)
#define HAVE_CLONE3_SWITCH
static long spawn_clone3_switch(struct clone3_args *args, int (*fn)(void *), void *arg)
{
	long ret = SYS_clone3;
	register int (*call)(void *) __asm__("r12") = fn;
	register void *with __asm__("r13") = arg;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r13, %%rdi\n\t"
			 "call *%%r12\n\t"
			 "hlt\n"
			 "1:"
			 : "+a"(ret)
			 : "D"(args), "S"(sizeof(*args)), "r"(call), "r"(with)
			 : "rcx", "r11", "memory", "cc");
	return ret;
}
#elif defined(__aarch64__)
#define HAVE_CLONE3_SWITCH
static long spawn_clone3_switch(struct clone3_args *args, int (*fn)(void *), void *arg)
{
	register long x0 __asm__("x0") = (long)args;
	register long x1 __asm__("x1") = sizeof(*args);
	register long x8 __asm__("x8") = SYS_clone3;
	register int (*call)(void *) __asm__("x19") = fn;
	register void *with __asm__("x20") = arg;

	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, #0\n\t"
			 "mov x0, x20\n\t"
			 "blr x19\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x1), "r"(x8), "r"(call), "r"(with)
			 : "memory", "cc");
	return x0;
}
#endif

#ifdef HAVE_CLONE3_SWITCH
static PLAIN_LOCALS int spawn_clone3_start(void *stack, struct start *s)
{
	bool into = s->spec->cgroup > 0;
	struct clone3_args args = {
		.flags = (uint64_t)s->flags | (into ? CLONE_INTO_CGROUP : 0),
		.exit_signal = SIGCHLD,
		.stack = (uint64_t)(uintptr_t)stack,
		.stack_size = SPAWN_STACK,
		.cgroup = into ? (uint64_t)s->spec->cgroup : 0,
	};

	s->inside = into;
	return (int)spawn_clone3_switch(&args, spawn_run_child, s);
}
#else
static int spawn_clone3_start(void *stack, struct start *s)
{
	(void)stack;
	(void)s;
	return -ENOSYS;
}
#endif

static int spawn_clone_start(char *stack, struct start *s)
{
	pid_t pid;

	s->inside = false;
	pid = clone(spawn_run_child, stack + SPAWN_STACK, s->flags | SIGCHLD, s);
	return pid < 0 ? -errno : pid;
}

/* From Linux 5.9 on.  This call closes nothing: no descriptor has that number. */
bool spawn_can_share(void)
{
	return syscall(SYS_close_range, UINT_MAX, UINT_MAX, 0) == 0;
}

static int spawn_clone_flags(const struct spawn_spec *spec)
{
	/* With keep_descriptors, the exec ends the sharing. */
	bool shares = spec->keep_descriptors || spec->share_descriptors;

	return CLONE_VM | CLONE_VFORK | (shares ? CLONE_FILES : 0);
}

/* The errors of CLONE_INTO_CGROUP in clone(2), and of Linux before 5.7. */
static bool spawn_is_refused_group(const struct spawn_spec *spec, int error)
{
	return spec->cgroup > 0 && (error == -EACCES || error == -EBUSY || error == -EOPNOTSUPP ||
				    error == -ENODEV || error == -EBADF);
}

static PLAIN_LOCALS int spawn_on(char *stack, const struct spawn_spec *spec, pid_t *pid,
				 struct spawn_failure *failure)
{
	struct spawn_failure why = { 0 };
	struct start s = { .spec = spec, .failure = &why, .flags = spawn_clone_flags(spec) };
	int r;

	r = spawn_clone3_start(stack, &s);
	if (r == -ENOSYS || r == -EPERM || (spec->cgroup > 0 && (r == -E2BIG || r == -EINVAL)))
		r = spawn_clone_start(stack, &s);
	/*
	 * The child has left its frames without a return: a sanitizer's marks of them are still on
	 * the stack.
	 */
	ASAN_UNPOISON_MEMORY_REGION(stack, SPAWN_STACK);
	if (r < 0 && spawn_is_refused_group(spec, r)) {
		*failure = (struct spawn_failure){ .step = SPAWN_STEP_CGROUP, .error = -r };
		return SPAWN_E_CHILD;
	}
	if (r < 0)
		return r;
	if (why.step != SPAWN_STEP_NONE) {
		*failure = why;
		return SPAWN_E_CHILD;
	}
	*pid = r;
	return 0;
}

/* A function of its own: a caller with a stack does not need this one. */
static __attribute__((noinline)) int spawn_here(const struct spawn_spec *spec, pid_t *pid,
						struct spawn_failure *failure)
{
	_Alignas(16) char stack[SPAWN_STACK] UNINITIALIZED;

	return spawn_on(stack, spec, pid, failure);
}

int spawn(const struct spawn_spec *spec, pid_t *pid, struct spawn_failure *failure)
{
	return spec->stack ? spawn_on(spec->stack, spec, pid, failure)
			   : spawn_here(spec, pid, failure);
}

const char *spawn_step_text(enum spawn_step step)
{
	static const char *const texts[] = {
		[SPAWN_STEP_NONE] = "start",
		[SPAWN_STEP_CGROUP] = "enter the control group",
		[SPAWN_STEP_SESSION] = "make a session",
		[SPAWN_STEP_TERMINAL] = "take the terminal",
		[SPAWN_STEP_STDIO] = "connect standard input and output",
		[SPAWN_STEP_CLOSE] = "close inherited descriptors",
		[SPAWN_STEP_OOM_SCORE] = "set oom-score-adjust",
		[SPAWN_STEP_NICE] = "set the nice value",
		[SPAWN_STEP_IO_CLASS] = "set the I/O class",
		[SPAWN_STEP_CPUS] = "set the CPU affinity",
		[SPAWN_STEP_LIMIT] = "set",
		[SPAWN_STEP_CAPABILITIES] = "set the capabilities",
		[SPAWN_STEP_GROUPS] = "set the groups",
		[SPAWN_STEP_GROUP] = "set the group",
		[SPAWN_STEP_USER] = "set the user",
		[SPAWN_STEP_NO_NEW_PRIVILEGES] = "set no-new-privileges",
		[SPAWN_STEP_DIRECTORY] = "enter the directory",
		[SPAWN_STEP_PARENT] = "ask for a signal at our end",
		[SPAWN_STEP_EXEC] = "execute",
	};

	return texts[step];
}
