/*
 * init-child: the command that the benchmark of inits runs behind each init.
 *
 * usage: init-child pong
 *        init-child orphans N CPU
 *
 * pong writes a byte to standard output, and one more for every SIGUSR1.  orphans hands N dead
 * processes to PID 1 at once, writes how many nanoseconds it took until they were collected, and ends;
 * it stays on that CPU, as any process.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_nsec(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int pong(void)
{
	sigset_t set;
	int signo;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	while (write(1, "x", 1) == 1)
		if (sigwait(&set, &signo) != 0)
			break;
	return EXIT_FAILURE;
}

/* Without a copy of our memory, which takes longer than all that is measured. */
static __attribute__((noinline)) pid_t bear_one(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	return pid;
}

/* In a process that ends, so that all of its dead are PID 1's. */
static _Noreturn void bear(pid_t *pids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pids[i] = bear_one();
		if (pids[i] < 0)
			_exit(1);
	}
	/* All are dead before the first is collected. */
	for (size_t i = 0; i < n; i++)
		if (waitid(P_PID, (id_t)pids[i], &(siginfo_t){ 0 }, WEXITED | WNOWAIT) < 0)
			_exit(1);
	_exit(0);
}

static int orphans(size_t n, int cpu)
{
	size_t size = n * sizeof(pid_t);
	pid_t *pids = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t begun;
	int status;
	cpu_set_t one;
	pid_t parent;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (pids == MAP_FAILED || sched_setaffinity(0, sizeof(one), &one) < 0 ||
	    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 }) < 0)
		err(EXIT_FAILURE, "%zu orphans on CPU %d", n, cpu);
	parent = fork();
	if (parent == 0)
		bear(pids, n);
	/* Its death means that its children have been handed over. */
	if (waitid(P_PID, (id_t)parent, &(siginfo_t){ 0 }, WEXITED | WNOWAIT) < 0)
		err(EXIT_FAILURE, "waitid");
	begun = now_nsec();
	for (size_t i = n; i-- > 0;)
		while (kill(pids[i], 0) == 0)
			;
	(void)printf("%" PRIu64 "\n", now_nsec() - begun);
	if (waitpid(parent, &status, 0) != parent || status != 0)
		errx(EXIT_FAILURE, "%zu processes cannot be had", n);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "pong") == 0)
		return pong();
	if (argc == 4 && strcmp(argv[1], "orphans") == 0)
		return orphans(strtoul(argv[2], NULL, 10), atoi(argv[3]));
	errx(2, "usage: init-child pong | orphans N CPU");
}
