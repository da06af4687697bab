/*
 * orphans: makes N of them at once.
 *
 * usage: orphans N [MILLISECONDS]
 *
 * Each lives for MILLISECONDS, or not at all; orphans itself exits 0 when the last is born.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	long ms = argc > 2 ? atol(argv[2]) : 0;
	struct timespec life = { ms / 1000, ms % 1000 * 1000000 };

	for (int i = 0; i < n; i++) {
		pid_t child = fork();

		if (child == 0) {
			child = fork();
			if (child == 0)
				(void)nanosleep(&life, NULL);
			_exit(child < 0);
		}
		if (child < 0 || waitpid(child, NULL, 0) < 0)
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
