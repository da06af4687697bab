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

#include <link.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "sys/spawn/raw.h"

#define HANDLER_STACK ((size_t)64 * 1024)
#define PAGE_MAX      65536 /* of all architectures */
#define KERNEL_MASK   8	    /* bytes of the kernel's set of signals */
#define N_LIMITS      4
#define STACK_AT      2048 /* in the file: behind the history */
#define STACK_WORDS   254  /* the last 16 bytes of the page are the owner's */

/* The C library of the static init does not know it. */
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

/* A compiler that is asked to fill variables would call memset(). */
#if __has_attribute(uninitialized)
#define UNFILLED __attribute__((uninitialized))
#else
#define UNFILLED
#endif

#if defined(__x86_64__)
#define CRASH_PC(at) ((uintptr_t)(at)->uc_mcontext.gregs[REG_RIP])
#define CRASH_LR(at) ((uintptr_t)0)
#define CRASH_SP(at) ((uintptr_t)(at)->uc_mcontext.gregs[REG_RSP])
#elif defined(__aarch64__)
#define CRASH_PC(at) ((uintptr_t)(at)->uc_mcontext.pc)
#define CRASH_LR(at) ((uintptr_t)(at)->uc_mcontext.regs[30]) /* to which the function returns */
#define CRASH_SP(at) ((uintptr_t)(at)->uc_mcontext.sp)
#else
#define CRASH_PC(at) ((void)(at), (uintptr_t)0)
#define CRASH_LR(at) CRASH_PC(at)
#define CRASH_SP(at) CRASH_PC(at)
#endif

/* Symbols of the linker: the program in memory, and the end of its code. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/*
 * Limits outlive an exec, which cannot go back if it lacks memory; and the next image would take those
 * that this one has changed for its first ones.
 */
static const int limited[N_LIMITS] = { RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_NOFILE };

#define NOTE(name)   "swansongd: " name ": executing it again\n"
#define FAULT(signo) signo, sizeof(NOTE(#signo)) - 1, NOTE(#signo)
static const struct {
	int signo;
	unsigned size;
	char note[48]; /* of the log */
} faults[] = {
	/* the last: on probation only */
	{ FAULT(SIGSEGV) }, { FAULT(SIGBUS) },	{ FAULT(SIGILL) },  { FAULT(SIGFPE) },
	{ FAULT(SIGSYS) },  { FAULT(SIGTRAP) }, { FAULT(SIGABRT) }, { FAULT(SIGALRM) },
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
		bool kept;	/* by a keeper, which executes the program */
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
	unsigned long only[2] = { 1UL << (signo - 1), 0 };

	(void)raw(SYS_rt_sigaction, signo, default_action, NULL, KERNEL_MASK);
	(void)raw(SYS_kill, raw(SYS_getpid), signo);
	(void)raw(SYS_rt_sigprocmask, SIG_UNBLOCK, only, NULL, KERNEL_MASK);
	/* Process 1 does not die of its own signals. */
	for (;;)
		(void)raw(SYS_exit_group, 128 + signo);
}

static SPAWN_PLAIN _Noreturn void crash_end(int signo)
{
	int64_t spared = 0;
	struct iovec there = { &spared, sizeof(spared) };

	(void)raw(SYS_preadv, refuge.plan.history, &there, 1,
		  offsetof(struct crash_history, spared), 0);
	if (refuge.plan.last)
		refuge.plan.last((pid_t)spared);
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

static SPAWN_PLAIN bool crash_is_code(uintptr_t at)
{
	return at > (uintptr_t)&__ehdr_start && at < (uintptr_t)etext;
}

/* The stack is read by way of the file: the kernel refuses an address that cannot be read. */
static SPAWN_PLAIN void crash_find_place(struct crash *crash, const ucontext_t *at)
{
	uintptr_t words[STACK_WORDS] UNFILLED, pc = CRASH_PC(at), sp = CRASH_SP(at);
	struct iovec stack = { (void *)sp, sizeof(words) }, copy = { words, sizeof(words) };
	long n = 0;

	crash->called = !crash_is_code(pc);
	if (crash->called)
		pc = CRASH_LR(at);
	if (!crash_is_code(pc))
		n = raw(SYS_pwritev, refuge.plan.history, &stack, 1, STACK_AT, 0);
	if (n > 0 && raw(SYS_preadv, refuge.plan.history, &copy, 1, STACK_AT, 0) < n)
		n = 0;
	for (long i = 0; i < n / (long)sizeof(*words) && !crash_is_code(pc); i++)
		pc = words[i];
	crash->place = crash_is_code(pc) ? pc - refuge.bias : 0;
}

/* Adds the fault to the history.  @at: NULL: not known.  Returns the program to be executed; -1: none. */
static SPAWN_PLAIN int crash_note(int signo, uintptr_t address, const ucontext_t *at)
{
	struct crash_history history UNFILLED;
	struct iovec all = { &history, sizeof(history) };
	struct crash *crash;
	unsigned n = 0;
	bool back;

	if (raw(SYS_preadv, refuge.plan.history, &all, 1, 0, 0) != sizeof(history) ||
	    history.magic != CRASH_MAGIC)
		return -1;
	crash = &history.last[history.n++ % CRASHES_KEPT];
	crash->usec = crash_clock();
	crash->address = address;
	crash->signo = signo;
	crash->place = 0;
	crash->called = 0;
	if (at)
		crash_find_place(crash, at);
	back = history.reason == CRASH_REPLACED &&
	       crash->usec - history.replaced_usec < PROBATION_USEC;
	history.reason = back ? CRASH_UNDONE : CRASH_FAULT;
	for (uint64_t i = 0; i < history.n && i < CRASHES_KEPT; i++)
		n += crash->usec - history.last[i].usec < CRASH_WINDOW_USEC;
	history.next = n > CRASHES_MAX ? -1 : back ? history.former : refuge.program;
	(void)raw(SYS_pwritev, refuge.plan.history, &all, 1, 0, 0);
	return (int)history.next;
}

static SPAWN_PLAIN void crash_print(int signo)
{
	struct pollfd log = { .fd = STDERR_FILENO, .events = POLLOUT };
	int64_t at_once[2];
	size_t i = 0;

	at_once[0] = at_once[1] = 0;
	while (i < ARRAY_SIZE(faults) - 1 && faults[i].signo != signo)
		i++;
	if (raw(SYS_ppoll, &log, 1, at_once, NULL, KERNEL_MASK) > 0 && (log.revents & POLLOUT))
		(void)raw(SYS_write, STDERR_FILENO, faults[i].note, faults[i].size);
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

/* Returns only if the kernel refuses the exec.  Other descriptors are CLOEXEC, or in a list of the program. */
static SPAWN_PLAIN void crash_go_on(int program)
{
	(void)raw(SYS_fcntl, refuge.plan.history, F_SETFD, 0);
	(void)raw(SYS_rt_sigprocmask, SIG_SETMASK, all_signals, NULL, KERNEL_MASK);
	(void)raw(SYS_execveat, program, "", refuge.plan.argv, refuge.plan.envp, AT_EMPTY_PATH);
}

static SPAWN_PLAIN void crash_on_signal(int signo, siginfo_t *info, void *context)
{
	int program;

	if (raw(SYS_getpid) != refuge.pid)
		crash_end_by(signo);
	program = crash_note(signo, info->si_code > 0 ? (uintptr_t)info->si_addr : 0, context);
	if (program < 0)
		crash_end(signo);
	for (int i = 0; i < N_LIMITS; i++)
		(void)raw(SYS_prlimit64, 0, limited[i], &refuge.limits[i], NULL);
	crash_print(signo);
	if (refuge.kept)
		crash_end_by(signo);
	crash_dump(signo);
	crash_go_on(program);
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
	char text[sizeof(CRASH_VARIABLE "=-2147483648")];

	copy->n = copy->size = 0;
	for (char *const *arg = plan->argv; *arg; arg++)
		crash_copy_text(copy, *arg);
	crash_copy_text(copy, NULL);
	copy->n_argv = copy->n;
	for (char *const *env = plan->envp; *env; env++)
		if (strncmp(*env, CRASH_VARIABLE "=", sizeof(CRASH_VARIABLE)) != 0)
			crash_copy_text(copy, *env);
	(void)snprintf(text, sizeof(text), CRASH_VARIABLE "=%d", plan->history);
	crash_copy_text(copy, text);
	crash_copy_text(copy, NULL);
}

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
	for (size_t i = 0; i < ARRAY_SIZE(faults) - !plan->on_probation; i++) {
		(void)sigaction(faults[i].signo, &action, NULL);
		(void)sigaddset(&only, faults[i].signo);
	}
	(void)sigprocmask(SIG_UNBLOCK, &only, NULL);
	return 0;
}

/* --- in a keeper, and below it --- */

static void crash_set_alarm(uint64_t usec)
{
	const struct itimerval alarm = { .it_value.tv_sec = (time_t)(usec / USEC_PER_SEC) };

	(void)setitimer(ITIMER_REAL, &alarm, NULL);
}

void crash_leave_to_keeper(void)
{
	(void)mprotect(&refuge, sizeof(refuge), PROT_READ | PROT_WRITE);
	refuge.pid = getpid();
	refuge.kept = true;
	refuge.plan.last = NULL;
	(void)mprotect(&refuge, sizeof(refuge), PROT_READ);
	if (refuge.plan.on_probation)
		crash_set_alarm(SETTLE_USEC);
}

/* Returns the choice of the program, once; -1: the history cannot be read. */
static int64_t crash_take_next(void)
{
	struct crash_history history;
	int64_t next;

	if (crash_history_read(refuge.plan.history, &history) < 0)
		return -1;
	next = history.next;
	history.next = 0;
	(void)!pwrite(refuge.plan.history, &history, sizeof(history), 0);
	return next;
}

void crash_go_on_after(int signo)
{
	int64_t next = crash_take_next();

	if (next == 0 && signo == 0)
		return;
	if (next == 0) {
		next = crash_note(signo, 0, NULL);
		(void)crash_take_next();
	}
	if (next > 0)
		crash_go_on((int)next);
	/* The kernel has refused it. */
	if (next > 0 && next != refuge.program && crash_note(SIGKILL, 0, NULL) > 0)
		crash_go_on(refuge.program);
	crash_end(signo ? signo : SIGKILL);
}

/* --- another program --- */

/* Return: a copy of the history and of all that is behind it, or -errno. */
static int crash_copy_history(void)
{
	cleanup(closep) int copy = memfd_create("swansong-crashes", MFD_CLOEXEC);
	off_t at = 0;
	ssize_t n;

	if (copy < 0)
		return -errno;
	while ((n = sendfile(copy, refuge.plan.history, &at, INT_MAX)) > 0)
		;
	return n < 0 ? -errno : take_fd(copy);
}

int crash_rehearse(int program, int kept)
{
	int copy = crash_copy_history();
	char number[16];

	if (copy < 0)
		return copy;
	(void)snprintf(number, sizeof(number), "%d", refuge.plan.history);
	(void)syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	if (dup2(copy, refuge.plan.history) < 0 || (kept >= 0 && fcntl(kept, F_SETFD, 0) < 0) ||
	    setenv(CRASH_VARIABLE, number, 1) < 0 || setenv(CRASH_REHEARSAL_VARIABLE, "1", 1) < 0)
		return -errno;
	(void)syscall(SYS_execveat, program, "", refuge.plan.argv, environ, AT_EMPTY_PATH);
	return -errno;
}

/* Sets the limits to @use, and *ret to those until now. */
static void crash_exchange_limits(const struct crash_limit use[static N_LIMITS],
				  struct crash_limit ret[static N_LIMITS])
{
	for (int i = 0; i < N_LIMITS; i++)
		(void)raw(SYS_prlimit64, 0, limited[i], &use[i], &ret[i]);
}

int crash_replace(int program, const char *version)
{
	const int passed[] = { refuge.plan.history, refuge.program };
	struct crash_limit limits[N_LIMITS];
	struct crash_history before, history;
	sigset_t all, mask;
	int r = crash_history_read(refuge.plan.history, &before);

	if (r < 0)
		return r;
	history = before;
	history.reason = CRASH_REPLACED;
	history.replaced_usec = clock_now_usec();
	history.former = refuge.program;
	memset(history.version, 0, sizeof(history.version));
	memcpy(history.version, version, MIN(strlen(version), sizeof(history.version)));
	history.next = refuge.kept ? program : 0;
	if (pwrite(refuge.plan.history, &history, sizeof(history), 0) < 0)
		return -errno;
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &mask);
	crash_exchange_limits(refuge.limits, limits);
	crash_set_alarm(SETTLE_USEC);
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++)
		(void)fcntl(passed[i], F_SETFD, 0);
	if (refuge.kept)
		_exit(0);
	(void)syscall(SYS_execveat, program, "", refuge.plan.argv, refuge.plan.envp, AT_EMPTY_PATH);
	r = -errno;
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++)
		(void)fcntl(passed[i], F_SETFD, FD_CLOEXEC);
	crash_set_alarm(0);
	crash_exchange_limits(limits, limits);
	(void)!pwrite(refuge.plan.history, &before, sizeof(before), 0);
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	return r;
}

void crash_settle(void)
{
	sigset_t alarm;

	crash_set_alarm(0);
	(void)sigemptyset(&alarm);
	(void)sigaddset(&alarm, SIGALRM);
	(void)sigprocmask(SIG_BLOCK, &alarm, NULL);
}
