/*
 * leaser: holds a lease on a file.
 *
 * usage: leaser FILE
 *
 * Another process that executes or opens FILE waits for lease-break-time, 45 s, or until this one
 * ends.  Prints "leased", and "waits" when one does.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	sigset_t broken;
	int signo, fd;

	(void)sigemptyset(&broken);
	(void)sigaddset(&broken, SIGIO);
	(void)sigprocmask(SIG_BLOCK, &broken, NULL);
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0 || fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
		err(EXIT_FAILURE, "leaser: no lease");
	for (const char *event = "leased"; puts(event) >= 0; event = "waits")
		(void)sigwait(&broken, &signo);
	return EXIT_FAILURE;
}
