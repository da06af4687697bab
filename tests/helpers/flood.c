/*
 * flood: makes orphans that are dead already, without end and as quickly as it can.
 *
 * usage: flood SECONDS
 *
 * After the time it ends.  Where a limit of its user refuses more, it goes on as soon as there is room.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_A_TIME 100

/* The parent ends without waiting, so that its dead children get another parent. */
static _Noreturn void make_dead(void)
{
	for (int i = 0; i < AT_A_TIME; i++) {
		pid_t pid = vfork(); /* several times as many as by fork() */

		if (pid == 0)
			_exit(EXIT_SUCCESS);
		if (pid < 0)
			break;
	}
	_exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
	unsigned seconds = argc == 2 ? (unsigned)atoi(argv[1]) : 0;

	if (seconds == 0)
		return EXIT_FAILURE;
	(void)alarm(seconds);
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			make_dead();
		if (pid > 0)
			(void)waitpid(pid, NULL, 0);
	}
}
