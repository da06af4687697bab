/*
 * The child shares the memory of the parent, as that of a start does (sys/spawn/spawn.c), and lives no
 * longer than the call.  Its end sends no signal, so no other part of the program collects it.
 */
#include "sys/spawn/environment.h"

#include <sched.h>

#include "sys/process/proc.h"
#include "sys/spawn/raw.h"

/* A child in state D for so long waits for the lock; one that waits for a processor is not in D. */
#define LOCKED_MSEC 50
#define STACK_SIZE  ((size_t)32 * 1024)

/* In memory of both processes. */
struct reader {
	char path[32];
	const char *name;
	char *value;
	size_t size;
	long result;
	size_t column, used; /* in the name of the present variable, and in its value */
	bool matching, value_begun;
	char piece[4096];
};

/* Takes the next byte.  Returns true if it ends the variable, and the value is whole. */
static SPAWN_PLAIN bool environment_take(struct reader *r, char c)
{
	if (c == '\0' && r->matching && r->value_begun && r->used < r->size) {
		r->value[r->used] = '\0';
		return true;
	}
	if (c == '\0') {
		r->column = r->used = 0;
		r->matching = true;
		r->value_begun = false;
	} else if (r->matching && r->value_begun) {
		r->matching = r->used < r->size;
		if (r->matching)
			r->value[r->used++] = c;
	} else if (r->matching) {
		r->value_begun = !r->name[r->column];
		r->matching = c == (r->value_begun ? '=' : r->name[r->column++]);
	}
	return false;
}

static SPAWN_PLAIN long environment_search(struct reader *r)
{
	long fd = raw(SYS_openat, AT_FDCWD, r->path, O_RDONLY | O_CLOEXEC), n;
	bool blank = true;

	if (fd < 0)
		return fd;
	while ((n = raw(SYS_read, fd, r->piece, sizeof(r->piece))) > 0) {
		blank = false;
		for (long i = 0; i < n; i++)
			if (environment_take(r, r->piece[i]))
				return 0;
	}
	if (n < 0)
		return n;
	/* An exec frees the memory, which then reads as empty: check that the process exists. */
	return blank || raw(SYS_pread64, fd, r->piece, 1, 0) != 1 ? -ENODATA : -ENOENT;
}

static SPAWN_PLAIN int environment_child(void *arg)
{
	struct reader *r = arg;

	r->result = environment_search(r);
	(void)raw(SYS_exit_group, 0);
	return 0; /* not reached */
}

/* Linux before 5.2 gives no @pidfd: then this takes longer than the child does. */
static int environment_await(pid_t child, int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	struct proc_info info;

	while (poll(&p, 1, LOCKED_MSEC) <= 0) {
		if (proc_read(child, &info) < 0 || info.state == 'D')
			return -ETIMEDOUT;
		if (info.state == 'Z')
			return 0;
	}
	return 0;
}

/* A single free descriptor is enough: the child has a table of its own. */
static int environment_run(struct reader *r, void *stack)
{
	cleanup(closep) int pidfd = -1;
	pid_t child = clone(environment_child, (char *)stack + STACK_SIZE,
			    CLONE_PIDFD | (SPAWN_SHARES_MEMORY ? CLONE_VM : 0), r, &pidfd);
	int outcome;

	if (child < 0)
		return -errno;
	outcome = environment_await(child, pidfd);
	if (outcome < 0)
		(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, __WALL);
	return outcome < 0 ? outcome : (int)r->result;
}

int environment_read(pid_t pid, const char *name, char *buf, size_t size)
{
	const size_t room = sizeof(struct reader) + size;
	char *memory = mmap(NULL, STACK_SIZE + room, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct reader *r = (void *)(memory + STACK_SIZE);
	int result;

	if (memory == MAP_FAILED)
		return -ENOMEM;
	*r = (struct reader){
		.result = -EIO, /* it may be killed */
		.name = name,
		.value = (char *)(r + 1),
		.size = size,
		.matching = true,
	};
	(void)snprintf(r->path, sizeof(r->path), "/proc/%d/environ", (int)pid);
	result = environment_run(r, memory);
	if (result == 0)
		(void)strcpy(buf, r->value);
	(void)munmap(memory, STACK_SIZE + room);
	return result;
}
