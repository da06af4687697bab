/*
 * floor: the least that a supervisor can do.
 *
 * usage: floor N CHILD [groups]
 *
 * Starts N children by vfork and exec, starts a child that ends again, and on SIGTERM ends them all and
 * itself.  No other supervisor of one thread can be faster, so this is the figure to compare with.
 *
 * With "groups" each child is born in a control group of its own, made before and removed at the end: the
 * least cost of having them.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/process/cgroup.h"

#define CLONE_VM_AND_VFORK UINT64_C(0x4100)
#define CLONE_INTO_GROUP   UINT64_C(0x200000000)
#define NAME_SIZE	   32

extern char **environ;

struct child {
	volatile pid_t pid;
	bool has_group;
};

/* Of the handler: there is no other way to give it something. */
static struct child *children;
static size_t n_children;
static volatile sig_atomic_t stopping;

/* The group that those of the children are in, in ours; 0: there are none. */
static int own, groups;
static char groups_name[32];

static void on_term(int signo)
{
	(void)signo;
	stopping = 1;
	for (size_t i = 0; i < n_children; i++)
		if (children[i].pid > 0)
			(void)kill(children[i].pid, SIGTERM);
}

/* --- control groups --- */

/* Inline, as vfork() has to return in the frame of its caller; clone3 has no wrapper. */
static inline __attribute__((always_inline)) long clone3_here(const uint64_t *arguments,
							      size_t size)
{
#if defined(__x86_64__)
	long result = SYS_clone3;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(arguments), "S"(size)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x0 __asm__("x0") = (long)arguments;
	register long x1 __asm__("x1") = (long)size;
	register long x8 __asm__("x8") = SYS_clone3;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x8) : "memory");
	return x0;
#else
	(void)arguments;
	(void)size;
	return -ENOSYS;
#endif
}

static void make_groups(void)
{
	char path[CGROUP_PATH_MAX];
	int r = cgroup_of(getpid(), path);

	own = r < 0 ? r : cgroup_open(path);
	(void)snprintf(groups_name, sizeof(groups_name), "floor-%d", (int)getpid());
	r = own < 0 ? own : cgroup_make(own, groups_name);
	groups = r < 0 ? r : cgroup_open_below(own, groups_name);
	if (groups < 0)
		errx(EXIT_FAILURE, "no control groups: %s", strerror(-groups));
}

static void group_name(char name[static NAME_SIZE], size_t i)
{
	(void)snprintf(name, NAME_SIZE, "child-%zu", i);
}

static int open_group(size_t i)
{
	char name[NAME_SIZE];
	int fd;

	group_name(name, i);
	if (!children[i].has_group && cgroup_make(groups, name) < 0)
		err(EXIT_FAILURE, "%s", name);
	children[i].has_group = true;
	fd = cgroup_open_below(groups, name);
	if (fd < 0)
		errx(EXIT_FAILURE, "%s: %s", name, strerror(-fd));
	return fd;
}

static void remove_groups(void)
{
	char name[NAME_SIZE];

	for (size_t i = 0; i < n_children; i++) {
		group_name(name, i);
		(void)unlinkat(groups, name, AT_REMOVEDIR);
	}
	(void)unlinkat(own, groups_name, AT_REMOVEDIR);
}

static pid_t start_in_group(size_t i, const char *file, char *const *argv)
{
	int group = open_group(i);
	/* struct clone_args: flags, 3 of no matter, exit_signal, 5 of no matter, cgroup */
	const uint64_t arguments[11] = {
		[0] = CLONE_VM_AND_VFORK | CLONE_INTO_GROUP,
		[4] = SIGCHLD,
		[10] = (uint64_t)group,
	};
	long pid = clone3_here(arguments, sizeof(arguments));

	if (pid == 0) {
		(void)execve(file, argv, environ);
		_exit(127);
	}
	(void)close(group);
	errno = pid < 0 ? (int)-pid : 0;
	return (pid_t)pid;
}

/* --- children --- */

static pid_t start_alone(const char *file, char *const *argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		(void)execve(file, argv, environ);
		_exit(127);
	}
	return pid;
}

static void start(size_t i, const char *file)
{
	char *const argv[] = { (char *)file, NULL };
	pid_t pid = groups ? start_in_group(i, file, argv) : start_alone(file, argv);

	if (pid < 0)
		err(EXIT_FAILURE, "clone");
	children[i].pid = pid;
	/* The handler may have been here before it had its place. */
	if (stopping)
		(void)kill(pid, SIGTERM);
}

static size_t find(pid_t pid)
{
	size_t i = 0;

	while (i < n_children && children[i].pid != pid)
		i++;
	return i;
}

int main(int argc, char **argv)
{
	struct sigaction term = { .sa_handler = on_term };
	pid_t pid;

	if (argc < 3 || argc > 4)
		errx(EXIT_FAILURE, "usage: floor N CHILD [groups]");
	n_children = strtoul(argv[1], NULL, 10);
	children = calloc(n_children, sizeof(*children));
	if (!children || sigaction(SIGTERM, &term, NULL) < 0)
		err(EXIT_FAILURE, "floor");
	if (argc > 3)
		make_groups();
	for (size_t i = 0; i < n_children; i++)
		start(i, argv[2]);
	while ((pid = waitpid(-1, NULL, 0)) > 0 || errno == EINTR) {
		size_t i = pid > 0 ? find(pid) : n_children;

		if (i == n_children)
			continue;
		children[i].pid = 0;
		if (!stopping)
			start(i, argv[2]);
	}
	if (groups)
		remove_groups();
	free(children);
	return EXIT_SUCCESS;
}
