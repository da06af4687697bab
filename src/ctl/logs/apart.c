/*
 * The child names the number that it works at in shared memory, with the results of those before it.
 * One that is at the same number for too long is killed, and not waited for: it may not even end then.
 */
#include "ctl/logs/apart.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"
#include "sys/file/mount.h"
#include "sys/process/proc.h"

#define PENDING 1

struct apart_state {
	size_t at;
	int results[];
};

void *apart_allocate(size_t size)
{
	void *memory = mmap(NULL, MAX(size, (size_t)1), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void apart_free(void *memory, size_t size)
{
	if (memory)
		(void)munmap(memory, MAX(size, (size_t)1));
}

static size_t apart_at(const struct apart_state *state)
{
	/* Acquire: with the results before it. */
	return __atomic_load_n(&state->at, __ATOMIC_ACQUIRE);
}

/* A child that hangs must not keep a pipe open of which others wait for the end. */
static _Noreturn void apart_child(const struct apart *a, struct apart_state *state, size_t from)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)close(APART_OUTPUT);
	if (a->output >= 0)
		(void)dup2(a->output, APART_OUTPUT);
	fd_close_above(APART_OUTPUT);
	for (size_t i = from; i < a->n; i++) {
		__atomic_store_n(&state->at, i, __ATOMIC_RELEASE);
		if (state->results[i] == PENDING)
			state->results[i] = a->run(i, a->arg);
	}
	_exit(0);
}

/* Return: false if it hangs. */
static bool apart_wait(const struct apart *a, const struct apart_state *state, pid_t pid)
{
	cleanup(closep) int fd = proc_open(pid);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t at;
	int n;

	if (fd >= 0)
		do {
			at = apart_at(state);
			n = poll(&p, 1, (int)(a->wait_usec / USEC_PER_MSEC));
			if (n == 0 && apart_at(state) == at)
				return false;
		} while (n <= 0);
	(void)waitpid(pid, NULL, 0);
	return true;
}

/* The one that hangs, and those on the same file system. */
static void apart_give_up(const struct apart *a, struct apart_state *state, size_t hung)
{
	cleanup(freep) char *mount = NULL;

	state->results[hung] = -ETIMEDOUT;
	if (mount_point_of(a->path(hung, a->arg), &mount) < 0)
		return;
	for (size_t i = hung + 1; i < a->n; i++) {
		cleanup(freep) char *other = NULL;

		if (state->results[i] == PENDING &&
		    mount_point_of(a->path(i, a->arg), &other) == 0 && strcmp(mount, other) == 0)
			state->results[i] = -ETIMEDOUT;
	}
}

/* From the number @from on.  Return: the number where it goes on; or -errno. */
static ssize_t apart_start(const struct apart *a, struct apart_state *state, size_t from)
{
	pid_t pid;
	size_t at;

	state->at = from;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		apart_child(a, state, from);
	if (apart_wait(a, state, pid)) {
		at = apart_at(state);
		if (state->results[at] == PENDING)
			state->results[at] = -EIO;
	} else {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, WNOHANG);
		at = apart_at(state);
		apart_give_up(a, state, at);
	}
	return (ssize_t)at + 1;
}

int apart_run(const struct apart *a, int *results)
{
	size_t size = sizeof(struct apart_state) + a->n * sizeof(int);
	struct apart_state *state = apart_allocate(size);
	ssize_t at = 0;

	if (!state)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++)
		state->results[i] = results[i] < 0 ? results[i] : PENDING;
	while (at >= 0 && (size_t)at < a->n) {
		if (state->results[at] == PENDING)
			at = apart_start(a, state, (size_t)at);
		else
			at++;
	}
	for (size_t i = 0; i < a->n && at >= 0; i++)
		results[i] = state->results[i];
	apart_free(state, size);
	return at < 0 ? (int)at : 0;
}
