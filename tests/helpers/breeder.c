/*
 * breeder: makes processes without end, each of which does the same, in sessions of their own, and
 * none of which ends for being asked.
 *
 * usage: breeder PROCESSES SECONDS
 *
 * Its user, which must not be root and have no other processes, is limited to so many at a time; after
 * the time each of them ends.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned seconds = argc == 3 ? (unsigned)atoi(argv[2]) : 0;
	rlim_t most = argc == 3 ? (rlim_t)atoi(argv[1]) : 0;
	const struct rlimit limit = { .rlim_cur = most, .rlim_max = most };

	if (getuid() == 0 || seconds == 0 || setrlimit(RLIMIT_NPROC, &limit) < 0)
		return EXIT_FAILURE;
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGCHLD, SIG_IGN);
	(void)alarm(seconds);
	for (;;) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)alarm(seconds);
			(void)setsid();
		} else {
			(void)usleep(pid < 0 ? 50000 : 1000);
		}
	}
}
