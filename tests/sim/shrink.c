/*
 * Lines are left out, many at once at first.  Each attempt runs in a child process, which may crash or
 * hang; its result comes through a pipe.
 */
#include "tests/sim/shrink.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t __real_fork(void);
int __real_kill(pid_t pid, int signo);

#define ATTEMPT_SECONDS 5

/* Runs @history apart.  Returns true if it failed. */
static bool shrink_attempt(const struct history *history, struct failure *failure)
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe(fds) < 0)
		return false;
	pid = __real_fork();
	if (pid == 0) {
		struct figures figures = { 0 };
		struct failure own;

		(void)alarm(ATTEMPT_SECONDS);
		if (run_history(history, &own, &figures))
			_exit(0);
		(void)!write(fds[1], &own, sizeof(own));
		_exit(1);
	}
	(void)close(fds[1]);
	n = read(fds[0], failure, sizeof(*failure));
	(void)close(fds[0]);
	(void)waitpid(pid, &status, 0);
	if (n == (ssize_t)sizeof(*failure))
		return true;
	*failure = (struct failure){ .promise = "" };
	if (WIFSIGNALED(status)) {
		(void)strcpy(failure->promise, "crash");
		(void)strcpy(failure->text, strsignal(WTERMSIG(status)));
	}
	return WIFSIGNALED(status);
}

static bool shrink_try(struct history *history, struct failure *failure, size_t from, size_t n)
{
	struct history shorter = history_without(history, from, n);
	struct failure found;

	if (shrink_attempt(&shorter, &found) && strcmp(found.promise, failure->promise) == 0) {
		history_done(history);
		*history = shorter;
		*failure = found;
		return true;
	}
	history_done(&shorter);
	return false;
}

/* Returns the number of lines that belong to the line: a section, or a configuration, as a whole. */
static size_t shrink_extent(const struct history *history, size_t from)
{
	const char *first = history->lines[from];
	size_t n = 1;

	if (*first != '[' && strncmp(first, "config ", 7) != 0)
		return strcmp(first, "operations") == 0 ? 0 : 1;
	for (; from + n < history->n; n++) {
		const char *line = history->lines[from + n];

		if (strncmp(line, "config ", 7) == 0 || strcmp(line, "operations") == 0 ||
		    (*first == '[' && *line == '['))
			break;
	}
	return n;
}

/* Leaves out one line, with those that belong to it, after the other.  Returns true if any was. */
static bool shrink_each(struct history *history, struct failure *failure)
{
	bool any = false;

	for (size_t from = 0; from < history->n;) {
		size_t n = shrink_extent(history, from);

		if (n > 0 && shrink_try(history, failure, from, n))
			any = true;
		else
			from++;
	}
	return any;
}

void shrink_history(struct history *history, struct failure *failure)
{
	for (size_t n = history->n - history_operations(history); n > 1; n /= 2)
		for (size_t end = history->n; end >= history_operations(history) + n;)
			if (!shrink_try(history, failure, end - n, n))
				end -= n;
			else
				end = end > history->n ? history->n : end;
	while (shrink_each(history, failure))
		;
}
