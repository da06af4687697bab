/*
 * floor: the least that a supervisor can do.
 *
 * usage: floor N CHILD
 *
 * Starts N children by vfork and exec, starts whoever ends again, and on SIGTERM ends them all and
 * itself.  No other supervisor of one thread can be faster, so this is what to compare with.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Of the handler: there is no other way to give it something. */
static volatile pid_t *pids;
static size_t n_pids;
static volatile sig_atomic_t stopping;

static void on_term(int signo)
{
	(void)signo;
	stopping = 1;
	for (size_t i = 0; i < n_pids; i++)
		if (pids[i] > 0)
			(void)kill(pids[i], SIGTERM);
}

static void start(volatile pid_t *place, const char *child)
{
	char *const argv[] = { (char *)child, NULL };
	pid_t pid = vfork();

	if (pid == 0) {
		(void)execve(child, argv, environ);
		_exit(127);
	}
	if (pid < 0)
		err(EXIT_FAILURE, "vfork");
	*place = pid;
	/* The handler may have been here before it had its place. */
	if (stopping)
		(void)kill(pid, SIGTERM);
}

static size_t find(pid_t pid)
{
	size_t i = 0;

	while (i < n_pids && pids[i] != pid)
		i++;
	return i;
}

int main(int argc, char **argv)
{
	struct sigaction term = { .sa_handler = on_term };
	pid_t pid;

	if (argc != 3)
		errx(EXIT_FAILURE, "usage: floor N CHILD");
	n_pids = strtoul(argv[1], NULL, 10);
	pids = calloc(n_pids, sizeof(*pids));
	if (!pids || sigaction(SIGTERM, &term, NULL) < 0)
		err(EXIT_FAILURE, "floor");
	for (size_t i = 0; i < n_pids; i++)
		start(&pids[i], argv[2]);
	while ((pid = waitpid(-1, NULL, 0)) > 0 || errno == EINTR) {
		size_t i = pid > 0 ? find(pid) : n_pids;

		if (i == n_pids)
			continue;
		pids[i] = 0;
		if (!stopping)
			start(&pids[i], argv[2]);
	}
	free((void *)pids);
	return EXIT_SUCCESS;
}
