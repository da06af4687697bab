/*
 * stubborn: ignores every signal that asks for an end.
 *
 * usage: stubborn [FILE]
 *
 * Once it ignores them it writes its pid to FILE.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	FILE *f;

	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	if (argc > 1) {
		f = fopen(argv[1], "we");
		if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f) != 0) {
			perror(argv[1]);
			return EXIT_FAILURE;
		}
	}
	for (;;)
		(void)pause();
}
