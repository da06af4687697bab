/*
 * signal-log: writes down the signals it gets.
 *
 * usage: signal-log FILE [STATUS]
 *
 * Appends "ready", then the name of each signal ("TERM") to FILE, a line each.  SIGTERM ends it:
 * with STATUS if given, else by that very signal.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	sigset_t all;
	int fd, signo = 0;

	if (argc < 2)
		return EXIT_FAILURE;
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	dprintf(fd, "ready\n");
	while (signo != SIGTERM) {
		if (sigwait(&all, &signo) != 0)
			return EXIT_FAILURE;
		dprintf(fd, "%s\n", sigabbrev_np(signo));
	}
	if (argc > 2)
		return atoi(argv[2]);
	(void)signal(SIGTERM, SIG_DFL);
	(void)raise(SIGTERM);
	(void)sigprocmask(SIG_UNBLOCK, &all, NULL);
	return EXIT_FAILURE;
}
