/*
 * signal-log: writes down the signals it gets.
 *
 * usage: signal-log FILE [STATUS [FIFO]]
 *
 * Appends "ready", then the name of each signal ("TERM") to FILE, a line each.  SIGTERM ends it:
 * with STATUS if given, else by that very signal; but not before a line is written to FIFO.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int open_or_exit(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0666);

	if (fd >= 0)
		return fd;
	perror(path);
	exit(EXIT_FAILURE);
}

/* Returns the signal. */
static int note_signal(int from, int to)
{
	struct signalfd_siginfo info;

	if (read(from, &info, sizeof(info)) != (ssize_t)sizeof(info))
		exit(EXIT_FAILURE);
	dprintf(to, "%s\n", sigabbrev_np((int)info.ssi_signo));
	return (int)info.ssi_signo;
}

/*
 * Returns true if there was one, and it is this process that has taken it.  The writer of the line may still hold the
 * FIFO: a line that stays in it would be for the next process.
 */
static bool take_line(int fd)
{
	char c;

	while (read(fd, &c, 1) == 1)
		if (c == '\n')
			return true;
	return false;
}

int main(int argc, char **argv)
{
	bool asked = false, let = argc <= 3;
	struct pollfd fds[2];
	sigset_t all;
	int fd;

	if (argc < 2)
		return EXIT_FAILURE;
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	fds[0] = (struct pollfd){ .fd = signalfd(-1, &all, SFD_CLOEXEC), .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = let ? -1 : open_or_exit(argv[3], O_RDWR | O_NONBLOCK),
				  .events = POLLIN };
	fd = open_or_exit(argv[1], O_WRONLY | O_CREAT | O_APPEND);
	dprintf(fd, "ready\n");
	while (!asked || !let) {
		if (poll(fds, 2, -1) < 0)
			return EXIT_FAILURE;
		if (fds[0].revents)
			asked |= note_signal(fds[0].fd, fd) == SIGTERM;
		if (fds[1].revents && take_line(fds[1].fd)) {
			let = true;
			fds[1].fd = -1;
		}
	}
	if (argc > 2)
		return atoi(argv[2]);
	(void)signal(SIGTERM, SIG_DFL);
	(void)raise(SIGTERM);
	(void)sigprocmask(SIG_UNBLOCK, &all, NULL);
	return EXIT_FAILURE;
}
