/*
 * crasher: ends, one way or the other.
 *
 * usage: crasher [-s SIGNAL] [-d MILLISECONDS] [STATUS]
 *
 * Waits MILLISECONDS, then kills itself by SIGNAL (a number), or exits with STATUS, or with 1.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const struct rlimit no_core = { 0, 0 };
	struct timespec delay = { 0 };
	int opt, signo = 0;

	while ((opt = getopt(argc, argv, "s:d:")) != -1) {
		if (opt == 's') {
			signo = atoi(optarg);
		} else if (opt == 'd') {
			delay.tv_sec = atol(optarg) / 1000;
			delay.tv_nsec = atol(optarg) % 1000 * 1000000;
		} else {
			return EXIT_FAILURE;
		}
	}
	(void)nanosleep(&delay, NULL);
	if (signo > 0) {
		(void)setrlimit(RLIMIT_CORE, &no_core);
		(void)raise(signo);
	}
	return optind < argc ? atoi(argv[optind]) : EXIT_FAILURE;
}
