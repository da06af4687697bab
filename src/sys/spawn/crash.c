/*
 * The data of the handler is the refuge, which has its pages to itself: an address that the code
 * contains, so that no pointer to it can be damaged.  It is filled by crash_arm(), and read-only
 * afterwards.  Copies of argv and of the environment are in a mapping, which is read-only as well.
 *
 * In the handler every signal is blocked.  A fault while its signal is blocked ends the process in
 * the kernel, process 1 of a namespace included: so no mark of a handler that has faulted is needed,
 * and there is none that damage could set.
 *
 * Functions of the C library would use tables that can be damaged, and locks that the fault may have
 * left taken.  The code of the handler calls none, and assigns no struct or array as a whole, for
 * which a compiler may call memcpy() or memset().
 */
#include "sys/spawn/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/macro.h"
#include "base/parse.h"
#include "sys/spawn/raw.h"

#define HANDLER_STACK  ((size_t)64 * 1024)
#define PAGE_MAX       65536 /* of all architectures */
#define KERNEL_MASK    8     /* bytes of the kernel's set of signals */
#define N_LIMITS       3
#define VARIABLE_PLACE sizeof(CRASH_VARIABLE "=-2147483648")
#define STACK_AT       2048 /* in the file: behind the history */
#define STACK_WORDS    256
#define HISTORY_MAGIC  UINT64_C(0x7265676465676e61)

/* A compiler that is asked to fill variables would call memset(). */
#if __has_attribute(uninitialized)
#define UNFILLED __attribute__((uninitialized))
#else
#define UNFILLED
#endif

#if defined(__x86_64__)
#define CRASH_PC(at) ((uintptr_t)(at)->uc_mcontext.gregs[REG_RIP])
#define CRASH_SP(at) ((uintptr_t)(at)->uc_mcontext.gregs[REG_RSP])
#elif defined(__aarch64__)
#define CRASH_PC(at) ((uintptr_t)(at)->uc_mcontext.pc)
#define CRASH_SP(at) ((uintptr_t)(at)->uc_mcontext.sp)
#else
#define CRASH_PC(at) ((void)(at), (uintptr_t)0)
#define CRASH_SP(at) CRASH_PC(at)
#endif

/* Of the linker: the program in memory, and the end of its code. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/* Limits outlive an exec, which cannot go back if it lacks memory. */
static const int limited[N_LIMITS] = { RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK };

#define FAULT(signo)                               \
	{                                          \
		signo, sizeof(#signo) - 1, #signo, \
	}
static const struct {
	int signo;
	unsigned size;
	char name[8];
} faults[] = {
	FAULT(SIGSEGV), FAULT(SIGBUS),	FAULT(SIGILL),	FAULT(SIGFPE),
	FAULT(SIGSYS),	FAULT(SIGTRAP), FAULT(SIGABRT),
};

static const unsigned char all_signals[KERNEL_MASK] = { 255, 255, 255, 255, 255, 255, 255, 255 };

/* The kernel's struct sigaction: SIG_DFL, no flags, an empty mask. */
static const unsigned long default_action[8];

struct crash_limit {
	uint64_t soft, hard;
};

static union {
	struct {
		struct crash_plan plan;
		int program; /* O_PATH: a package may replace the file */
		pid_t pid;
		uintptr_t bias; /* of the program's addresses */
		struct crash_limit limits[N_LIMITS];
	};
	char pages[PAGE_MAX];
} refuge __attribute__((aligned(PAGE_MAX)));

_Static_assert(CRASHES_KEPT > CRASHES_MAX, "the history has all faults that count");
_Static_assert(sizeof(struct crash_history) <= STACK_AT, "the stack is behind the history");

/* --- the handler --- */

static SPAWN_PLAIN _Noreturn void crash_end_by(int signo)
{
	unsigned long only[2];

	only[0] = 1UL << (signo - 1);
	only[1] = 0;
	(void)raw(SYS_rt_sigaction, signo, default_action, NULL, KERNEL_MASK);
	(void)raw(SYS_kill, raw(SYS_getpid), signo);
	(void)raw(SYS_rt_sigprocmask, SIG_UNBLOCK, only, NULL, KERNEL_MASK);
	/* Process 1 does not die of its own signals. */
	for (;;)
		(void)raw(SYS_exit_group, 128 + signo);
}

static SPAWN_PLAIN _Noreturn void crash_end(int signo)
{
	if (refuge.plan.last)
		refuge.plan.last(signo);
	crash_end_by(signo);
}

static SPAWN_PLAIN uint64_t crash_clock(void)
{
	int64_t now[2]; /* seconds, nanoseconds */

#ifdef SYS_clock_gettime64
	(void)raw(SYS_clock_gettime64, CLOCK_MONOTONIC, now);
#else
	(void)raw(SYS_clock_gettime, CLOCK_MONOTONIC, now);
#endif
	return (uint64_t)now[0] * 1000000 + (uint64_t)now[1] / 1000;
}

static SPAWN_PLAIN bool crash_is_one_too_many(const struct crash_history *history, uint64_t now)
{
	unsigned n = 0;

	for (uint64_t i = 0; i < history->n && i < CRASHES_KEPT; i++)
		n += now - history->last[i].usec < CRASH_WINDOW_USEC;
	return n > CRASHES_MAX;
}

static SPAWN_PLAIN bool crash_is_code(uintptr_t at)
{
	return at > (uintptr_t)&__ehdr_start && at < (uintptr_t)etext;
}

/* The stack is read by way of the file: the kernel refuses an address that cannot be read. */
static SPAWN_PLAIN void crash_find_place(struct crash *crash, uintptr_t pc, uintptr_t sp)
{
	uintptr_t words[STACK_WORDS] UNFILLED;
	struct iovec stack = { (void *)sp, sizeof(words) }, copy = { words, sizeof(words) };
	long n = 0;

	crash->called = !crash_is_code(pc);
	if (crash->called)
		n = raw(SYS_pwritev, refuge.plan.history, &stack, 1, STACK_AT, 0);
	if (n > 0 && raw(SYS_preadv, refuge.plan.history, &copy, 1, STACK_AT, 0) < n)
		n = 0;
	for (long i = 0; i < n / (long)sizeof(*words) && !crash_is_code(pc); i++)
		pc = words[i];
	crash->place = crash_is_code(pc) ? pc - refuge.bias : 0;
}

/* Adds the fault to the history.  Returns true if the program is to be executed again. */
static SPAWN_PLAIN bool crash_note(int signo, const siginfo_t *info, const ucontext_t *at)
{
	struct crash_history history UNFILLED;
	struct iovec all = { &history, sizeof(history) };
	struct crash *crash;

	if (raw(SYS_preadv, refuge.plan.history, &all, 1, 0, 0) != sizeof(history) ||
	    history.magic != HISTORY_MAGIC)
		return false;
	crash = &history.last[history.n++ % CRASHES_KEPT];
	crash->usec = crash_clock();
	crash->address = info->si_code > 0 ? (uintptr_t)info->si_addr : 0;
	crash->signo = signo;
	crash_find_place(crash, CRASH_PC(at), CRASH_SP(at));
	(void)raw(SYS_pwritev, refuge.plan.history, &all, 1, 0, 0);
	return !crash_is_one_too_many(&history, crash->usec);
}

static SPAWN_PLAIN void crash_print(int signo)
{
	static const char before[] = "swansongd: ", after[] = ": executing it again\n";
	struct pollfd log = { .fd = STDERR_FILENO, .events = POLLOUT };
	int64_t at_once[2];
	struct iovec line[3];
	size_t i = 0;

	at_once[0] = at_once[1] = 0;
	while (i < ARRAY_SIZE(faults) - 1 && faults[i].signo != signo)
		i++;
	line[0].iov_base = (void *)before;
	line[0].iov_len = sizeof(before) - 1;
	line[1].iov_base = (void *)faults[i].name;
	line[1].iov_len = faults[i].size;
	line[2].iov_base = (void *)after;
	line[2].iov_len = sizeof(after) - 1;
	if (raw(SYS_ppoll, &log, 1, at_once, NULL, KERNEL_MASK) > 0 && (log.revents & POLLOUT))
		(void)raw(SYS_writev, STDERR_FILENO, line, 3);
}

/*
 * A child is a copy of the process at its fault.  It is an ordinary child: one that sends no signal at
 * its end would be seen by no wait of the program.
 */
static SPAWN_PLAIN void crash_dump(int signo)
{
	struct crash_limit core;

	if (raw(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &core) < 0 || core.soft == 0)
		return;
#ifdef SYS_fork
	if (raw(SYS_fork) != 0)
		return;
#else
	if (raw(SYS_clone, SIGCHLD) != 0)
		return;
#endif
	(void)raw(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	crash_end_by(signo);
}

static SPAWN_PLAIN void crash_restore_limits(void)
{
	for (int i = 0; i < N_LIMITS; i++)
		(void)raw(SYS_prlimit64, 0, limited[i], &refuge.limits[i], NULL);
}

/* It returns only if the kernel refuses.  Other descriptors are CLOEXEC, or in a list of the program. */
static SPAWN_PLAIN void crash_go_on(void)
{
	(void)raw(SYS_fcntl, refuge.plan.history, F_SETFD, 0);
	(void)raw(SYS_rt_sigprocmask, SIG_SETMASK, all_signals, NULL, KERNEL_MASK);
	(void)raw(SYS_execveat, refuge.program, "", refuge.plan.argv, refuge.plan.envp,
		  AT_EMPTY_PATH);
}

static SPAWN_PLAIN void crash_on_signal(int signo, siginfo_t *info, void *context)
{
	if (raw(SYS_getpid) != refuge.pid)
		crash_end_by(signo);
	if (!crash_note(signo, info, context))
		crash_end(signo);
	crash_restore_limits();
	crash_print(signo);
	crash_dump(signo);
	crash_go_on();
	crash_end(signo);
}

/* --- before a fault --- */

/* A copy of argv, the environment and their texts.  At first @vector is NULL, and it is measured. */
struct crash_copy {
	char **vector, *texts;
	size_t n, n_argv, size;
};

static void crash_copy_text(struct crash_copy *copy, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;

	if (copy->vector)
		copy->vector[copy->n] = text ? memcpy(copy->texts + copy->size, text, size) : NULL;
	copy->n++;
	copy->size += size;
}

static void crash_copy_all(struct crash_copy *copy, const struct crash_plan *plan)
{
	static const char variable[] = CRASH_VARIABLE "=";
	char text[VARIABLE_PLACE];

	copy->n = copy->size = 0;
	for (char *const *arg = plan->argv; *arg; arg++)
		crash_copy_text(copy, *arg);
	crash_copy_text(copy, NULL);
	copy->n_argv = copy->n;
	for (char *const *env = plan->envp; *env; env++)
		if (strncmp(*env, variable, sizeof(variable) - 1) != 0)
			crash_copy_text(copy, *env);
	(void)snprintf(text, sizeof(text), "%s%d", variable, plan->history);
	crash_copy_text(copy, text);
	crash_copy_text(copy, NULL);
}

/* Return: 0 or -errno. */
static int crash_fill(const struct crash_plan *plan)
{
	struct crash_copy copy = { 0 };
	size_t size;
	void *memory;

	crash_copy_all(&copy, plan);
	size = copy.n * sizeof(*copy.vector) + copy.size;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	copy.vector = memory;
	copy.texts = (char *)(copy.vector + copy.n);
	crash_copy_all(&copy, plan);
	refuge.plan = *plan;
	refuge.plan.argv = copy.vector;
	refuge.plan.envp = copy.vector + copy.n_argv;
	refuge.program = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	if (refuge.program < 0)
		return -errno;
	refuge.pid = getpid();
	refuge.bias = __ehdr_start.e_type == ET_DYN ? (uintptr_t)&__ehdr_start : 0;
	for (int i = 0; i < N_LIMITS; i++)
		(void)raw(SYS_prlimit64, 0, limited[i], NULL, &refuge.limits[i]);
	if (mprotect(memory, size, PROT_READ) < 0 ||
	    mprotect(&refuge, sizeof(refuge), PROT_READ) < 0)
		return -errno;
	return 0;
}

/* The first page is a guard.  A checker of leaks reads static memory, so it is not there. */
static int crash_give_stack(void)
{
	char *memory = mmap(NULL, PAGE_MAX + HANDLER_STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_size = HANDLER_STACK };

	if (memory == MAP_FAILED)
		return -errno;
	stack.ss_sp = memory + PAGE_MAX;
	memset(stack.ss_sp, 0, stack.ss_size); /* it has memory from now on */
	if (mprotect(memory, PAGE_MAX, PROT_NONE) < 0 || sigaltstack(&stack, NULL) < 0)
		return -errno;
	return 0;
}

int crash_arm(const struct crash_plan *plan)
{
	struct sigaction action = {
		.sa_sigaction = crash_on_signal,
		.sa_flags = SA_ONSTACK | SA_SIGINFO,
	};
	sigset_t only;
	int r = crash_give_stack();

	if (r >= 0)
		r = crash_fill(plan);
	if (r < 0)
		return r;
	(void)sigfillset(&action.sa_mask);
	(void)sigemptyset(&only);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		(void)sigaction(faults[i].signo, &action, NULL);
		(void)sigaddset(&only, faults[i].signo);
	}
	(void)sigprocmask(SIG_UNBLOCK, &only, NULL);
	return 0;
}

/* --- the history --- */

int crash_history_new(const struct signals *signals)
{
	const struct crash_history history = {
		.magic = HISTORY_MAGIC,
		.size = sizeof(history),
		.signals = *signals,
	};
	cleanup(closep) int fd = memfd_create("swansong-crashes", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, &history, sizeof(history), 0) != sizeof(history))
		return -errno;
	return take_fd(fd);
}

static int crash_read(int fd, struct crash_history *ret)
{
	if (pread(fd, ret, sizeof(*ret), 0) != sizeof(*ret) || ret->magic != HISTORY_MAGIC ||
	    ret->size != sizeof(*ret) || ret->n == 0)
		return -EBADMSG;
	return 0;
}

int crash_take(struct crash_history *ret)
{
	const char *value = getenv(CRASH_VARIABLE);
	uint64_t fd;

	if (!value)
		return -ENOENT;
	if (parse_uint(value, INT_MAX, &fd) < 0 || crash_read((int)fd, ret) < 0)
		return -EBADMSG;
	(void)unsetenv(CRASH_VARIABLE);
	(void)fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	(void)prctl(PR_SET_NAME, program_invocation_short_name);
	return (int)fd;
}

const struct crash *crash_latest(const struct crash_history *history)
{
	return &history->last[(history->n - 1) % CRASHES_KEPT];
}
