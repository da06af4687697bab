/*
 * The program that crashes.  Its first image makes children, notes them behind the history and crashes
 * as its argument asks for.  The image after that prints "again", the signal of the latest fault and
 * their count; then "ok" if it has the same children, and no other descriptor.
 *
 * usage: KIND
 */
#include "tests/unit/sys/spawn/crashing.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "sys/process/signals.h"
#include "sys/spawn/crash.h"
#include "tests/unit/sys/spawn/limits.h"

#define RANGES_MAX 128
#define STATE_AT   4096 /* behind the history */
#define FUNCTION_MAX 512
#if defined(__x86_64__) || defined(__aarch64__)
#define CRASHING_HAS_PLACE true
#else
#define CRASHING_HAS_PLACE false
#endif
#define PLAIN	   __attribute__((noinline, no_sanitize("address", "undefined")))

extern char **environ;

static int history = -1;
static const char *kind;
static struct {
	int pid, dead, alive, pipe;
	unsigned long long environment;
} had;

static bool is(const char *name)
{
	return strcmp(kind, name) == 0;
}

static _Noreturn void give_up(const char *text)
{
	(void)dprintf(STDOUT_FILENO, "%s: %s\n", text, strerror(errno));
	_exit(3);
}

static int expect(int r, const char *text)
{
	if (r < 0)
		give_up(text);
	return r;
}

/* --- faults --- */

static volatile int zero, depth;
static volatile uintptr_t nowhere;

static PLAIN void fault_null(void)
{
	*(volatile int *)nowhere = 1;
}

static PLAIN void fault_jump(void)
{
	nowhere = (uintptr_t)1 << 30;
	depth = ((int (*)(void))nowhere)();
}

static PLAIN int fault_stack_at(int n)
{
	volatile char room[4096];

	room[n % 4096] = (char)n;
	return depth < 0 ? 0 : fault_stack_at(n + 1) + room[0];
}

static PLAIN void fault_stack(void)
{
	depth = fault_stack_at(0);
}

static PLAIN void fault_division(void)
{
	depth = 1 / zero;
	(void)raise(SIGFPE); /* where the processor does not mind */
}

static PLAIN void fault_instruction(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_trap();
#endif
	(void)raise(SIGILL);
}

static void fault_bus(void)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = memfd_create("short", MFD_CLOEXEC);
	volatile char *p = mmap(NULL, (size_t)page * 2, PROT_READ, MAP_SHARED, fd, 0);

	expect(ftruncate(fd, page), "ftruncate");
	depth = p[page];
}

static PLAIN void fault_heap(void)
{
	char *volatile blocks[] = { malloc(24), malloc(8192) };
	volatile char *p = blocks[0];

	for (int i = -16; i < 4096; i++)
		p[i] = 0x41;
	free(blocks[0]);
	free(blocks[1]);
	abort();
}

/* No page of any kind can be had. */
static void fault_memory(void)
{
	struct rlimit none = { 0, RLIM_INFINITY };

	(void)setrlimit(RLIMIT_AS, &none);
	(void)setrlimit(RLIMIT_DATA, &none);
	if (!malloc(1 << 22))
		abort();
}

struct ranges {
	uintptr_t begin[RANGES_MAX], end[RANGES_MAX];
	size_t n;
};

/*
 * All memory that can be written, but the stack, and the block of the thread: the kernel uses a part of
 * that (rseq), and ends a process that damages it.
 */
static void find_ranges(struct ranges *ranges)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t begin, end, thread = (uintptr_t)&errno,
			      stack = (uintptr_t)__builtin_frame_address(0);
	char line[512];

	ranges->n = 0;
	while (maps && ranges->n < RANGES_MAX && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx rw", &begin, &end) == 2 && strstr(line, " rw") &&
		    !(thread >= begin && thread < end) && !(stack >= begin && stack < end)) {
			ranges->begin[ranges->n] = begin;
			ranges->end[ranges->n++] = end;
		}
}

static PLAIN void fault_wild(void)
{
	struct ranges ranges;

	find_ranges(&ranges);
	for (size_t i = 0; i < ranges.n; i++)
		for (volatile char *p = (char *)ranges.begin[i]; (uintptr_t)p < ranges.end[i]; p++)
			*p = (char)0xaa;
	*(volatile int *)(uintptr_t)ranges.n = 1;
}

static PLAIN void fault_trap(void)
{
	depth = raise(SIGTRAP); /* after the call, so that it is none of a tail */
}

static void fault_system_call(void)
{
	(void)raise(SIGSYS);
}

static void fault(void)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} faults[] = {
		{ "jump", fault_jump },
		{ "stack", fault_stack },
		{ "division", fault_division },
		{ "instruction", fault_instruction },
		{ "bus", fault_bus },
		{ "heap", fault_heap },
		{ "memory", fault_memory },
		{ "wild", fault_wild },
		{ "trap", fault_trap },
		{ "system-call", fault_system_call },
		{ "abort", abort },
	};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		if (is(faults[i].name))
			faults[i].function();
	fault_null();
}

/* --- the state that outlives a fault --- */

static unsigned long long environment_sum(void)
{
	unsigned long long sum = 0;

	for (char **env = environ; *env; env++)
		if (strncmp(*env, CRASH_VARIABLE, strlen(CRASH_VARIABLE)) != 0)
			for (const char *c = *env; *c; c++)
				sum = sum * 31 + (unsigned char)*c;
	return sum;
}

static size_t count_variables(void)
{
	size_t n = 0;

	for (char **env = environ; *env; env++)
		n += strncmp(*env, CRASH_VARIABLE "=", strlen(CRASH_VARIABLE "=")) == 0;
	return n;
}

/* A child that waits for its parent, or with @status ends. */
static pid_t add_child(int status)
{
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0) {
		if (status >= 0)
			_exit(status);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == had.pid) /* it may have ended before */
			(void)pause();
		_exit(0);
	}
	if (status >= 0)
		(void)waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	return expect(pid, "fork");
}

static void set_up(const struct signals *was)
{
	char text[256] = "";
	int fds[2];

	history = expect(crash_history_new(was), "history");
	expect(pipe2(fds, O_CLOEXEC), "pipe");
	had.pid = getpid();
	had.dead = add_child(7);
	had.alive = add_child(-1);
	had.pipe = fds[0];
	had.environment = environment_sum();
	(void)snprintf(text, sizeof(text), "%d %d %d %d %llu", had.pid, had.dead, had.alive,
		       had.pipe, had.environment);
	expect((int)pwrite(history, text, sizeof(text), STATE_AT), "state");
}

static bool ended_with(pid_t pid, int code, int status)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED) == 0 && info.si_code == code &&
	       info.si_status == status;
}

/* With a limit of cores there is one more child, with the fault. */
static bool core_is_right(const struct crash *crash)
{
	siginfo_t info = { 0 };

	if (!is("core"))
		return waitid(P_ALL, 0, &info, WEXITED) < 0;
	return waitid(P_ALL, 0, &info, WEXITED) == 0 && info.si_code != CLD_EXITED &&
	       info.si_status == crash->signo;
}

/* The place is in the function of the fault, or in the one that called a library. */
static bool place_is_right(const struct crash *crash)
{
	static const struct {
		const char *kind;
		uintptr_t function;
		uint32_t called;
	} places[] = {
		{ "null", (uintptr_t)fault_null, 0 },
		{ "jump", (uintptr_t)fault_jump, 1 },
		{ "stack", (uintptr_t)fault_stack_at, 0 },
		{ "trap", (uintptr_t)fault_trap, 1 },
	};
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		uint64_t from = places[i].function - (uintptr_t)__ehdr_start;

		if (is(places[i].kind) &&
		    (crash->called != places[i].called || crash->place < from ||
		     crash->place > from + FUNCTION_MAX))
			return !CRASHING_HAS_PLACE;
	}
	return true;
}

static void check_state(const struct crash_history *read)
{
	char text[256] = "";

	expect((int)pread(history, text, sizeof(text) - 1, STATE_AT), "state");
	if (sscanf(text, "%d %d %d %d %llu", &had.pid, &had.dead, &had.alive, &had.pipe,
		   &had.environment) != 5)
		give_up("state");
	if (had.pid != getpid() || had.environment != environment_sum())
		give_up("process");
	if (fcntl(had.pipe, F_GETFD) >= 0 || fcntl(history, F_GETFD) != FD_CLOEXEC)
		give_up("descriptors");
	if (!ended_with(had.dead, CLD_EXITED, 7) || kill(had.alive, SIGKILL) < 0 ||
	    !ended_with(had.alive, CLD_KILLED, SIGKILL))
		give_up("children");
	if (!place_is_right(crash_latest(read)))
		give_up("place");
	if (!core_is_right(crash_latest(read)))
		give_up("core");
	if (sigismember(&read->signals.mask, SIGUSR1) != 1 ||
	    sigismember(&read->signals.mask, SIGUSR2) != 0)
		give_up("signals");
	if (!limits_are(1))
		give_up("limits");
}

/* --- arming --- */

static void last(pid_t spared)
{
	(void)dprintf(STDOUT_FILENO, "last %d\n", (int)spared);
	if (is("last-faults"))
		fault_null();
}

static void arm(void)
{
	const struct crash_plan plan = {
		.history = is("no-history") ? open("/dev/null", O_RDWR | O_CLOEXEC) : history,
		.argv = (char *[]){ (char *)"crashing", (char *)kind, NULL },
		.envp = environ,
		.last = last,
	};

	expect(crash_arm(&plan), "arm");
}

/* --- other things to do than to crash --- */

static PLAIN int run_child(void *arg)
{
	(void)arg;
	fault_null();
	return 0;
}

/* Standard error is a pipe that is full. */
static void fill_standard_error(void)
{
	int fds[2];

	expect(pipe2(fds, O_CLOEXEC), "pipe");
	expect(fcntl(fds[1], F_SETFL, O_NONBLOCK), "F_SETFL");
	while (write(fds[1], "x", 1) > 0)
		;
	expect(fcntl(fds[1], F_SETFL, 0), "F_SETFL");
	expect(dup2(fds[1], STDERR_FILENO), "dup2");
}

/* A child before its exec, in the memory of this process or in a copy. */
static _Noreturn void crash_in_child(void)
{
	static char stack[65536] __attribute__((aligned(64)));
	struct crash_history now = { 0 };
	int status = 0;
	pid_t pid = is("forked")
			    ? fork()
			    : clone(run_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	if (pid == 0)
		fault_null();
	expect(waitpid(pid, &status, 0), "waitpid");
	expect((int)pread(history, &now, sizeof(now), 0), "history");
	(void)dprintf(STDOUT_FILENO, "child %d, %d crashes\n",
		      WIFSIGNALED(status) ? WTERMSIG(status) : 0, (int)now.n);
	_exit(0);
}

static void act(void)
{
	struct rlimit core = { 4096, RLIM_INFINITY };

	if (is("forked") || is("in-memory"))
		crash_in_child();
	if (is("core"))
		expect(setrlimit(RLIMIT_CORE, &core), "RLIMIT_CORE");
	if (is("full"))
		fill_standard_error();
	if (is("no-stack"))
		expect(sigaltstack(&(stack_t){ .ss_sp = (void *)4096, .ss_size = 65536 }, NULL),
		       "stack");
	fault();
}

static void begin(void)
{
	struct rlimit none = { 0, RLIM_INFINITY };
	struct signals was;
	sigset_t blocked;

	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGUSR1);
	(void)sigprocmask(SIG_SETMASK, &blocked, NULL);
	signals_take_over(&was);
	(void)setrlimit(RLIMIT_CORE, &none);
	set_up(&was);
	expect(limits_set(1), "limits");
	arm();
	expect(limits_set(2), "limits");
	act();
	give_up("no fault");
}

static void go_on(void)
{
	struct crash_history read;

	if (count_variables() != 1)
		give_up("variable");
	history = expect(crash_take(&read), "history");
	if (count_variables() != 0)
		give_up("variable");
	(void)dprintf(STDOUT_FILENO, "again %d %d\n", (int)crash_latest(&read)->signo, (int)read.n);
	if (is("often") || is("last-faults")) {
		arm();
		fault();
	}
	check_state(&read);
	(void)dprintf(STDOUT_FILENO, "ok\n");
	_exit(0);
}

/* Before main(), which runs the tests. */
static __attribute__((constructor)) void crashing_run(int argc, char **argv)
{
	if (argc < 2 || !getenv(CRASHING_VARIABLE))
		return;
	kind = argv[1];
	if (getenv(CRASH_VARIABLE))
		go_on();
	begin();
}
