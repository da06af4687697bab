/*
 * orphans: makes N of them at once.
 *
 * usage: orphans N [MILLISECONDS]
 *
 * Each lives for MILLISECONDS, or not at all; orphans itself exits 0 when the last is born.  All
 * share its memory, as copies of it would take most of the time.
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK ((size_t)4096)

static int orphan(void *life)
{
	(void)nanosleep(life, NULL);
	_exit(EXIT_SUCCESS);
}

struct birth {
	char *stack;
	struct timespec *life;
};

static int parent(void *arg)
{
	struct birth *birth = arg;

	_exit(clone(orphan, birth->stack, CLONE_VM | SIGCHLD, birth->life) < 0);
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? (size_t)atoi(argv[1]) : 0;
	long ms = argc > 2 ? atol(argv[2]) : 0;
	struct timespec life = { ms / 1000, ms % 1000 * 1000000 };
	char *stacks = aligned_alloc(STACK, (n + 1) * STACK);

	if (!stacks)
		return EXIT_FAILURE;
	for (size_t i = 1; i <= n; i++) {
		struct birth birth = { stacks + (i + 1) * STACK, &life };
		pid_t child =
			clone(parent, stacks + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &birth);

		if (child < 0 || waitpid(child, NULL, 0) < 0)
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
