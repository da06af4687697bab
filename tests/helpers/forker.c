/*
 * forker: leaves a grandchild behind that ignores SIGTERM, then waits for a signal itself.
 *
 * usage: forker [--setsid] [--exit] FILE
 *
 * --setsid: the grandchild is in a session of its own, out of reach for the group's signals
 * --exit: do not wait, exit 0
 *
 * FILE gets the grandchild's pid once it ignores the signal; only then does forker go on.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void linger(void)
{
	for (;;)
		(void)pause();
}

static _Noreturn void be_grandchild(const char *path, int ready)
{
	FILE *f = fopen(path, "we");

	(void)signal(SIGTERM, SIG_IGN);
	if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f) != 0)
		_exit(EXIT_FAILURE);
	if (write(ready, "", 1) != 1)
		_exit(EXIT_FAILURE);
	(void)close(ready);
	linger();
}

int main(int argc, char **argv)
{
	bool new_session = false, leave = false;
	int ready[2], status;
	pid_t pid;
	char c;

	for (; argc > 2; argv++, argc--) {
		new_session |= strcmp(argv[1], "--setsid") == 0;
		leave |= strcmp(argv[1], "--exit") == 0;
	}
	if (argc != 2 || pipe(ready) < 0)
		return EXIT_FAILURE;
	pid = fork();
	if (pid == 0) {
		if (new_session)
			(void)setsid();
		pid = fork();
		if (pid == 0)
			be_grandchild(argv[1], ready[1]);
		_exit(pid < 0);
	}
	(void)close(ready[1]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0 || read(ready[0], &c, 1) != 1)
		return EXIT_FAILURE;
	(void)close(ready[0]);
	if (leave)
		return EXIT_SUCCESS;
	linger();
}
