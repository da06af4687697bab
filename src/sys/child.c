#include "sys/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* What the step names is left to the parent; here only where and why. */
static _Noreturn void fail(struct spawn_failure *failure, enum spawn_step step)
{
	failure->step = step;
	failure->error = errno;
	_exit(errno == ENOENT ? 127 : 126);
}

static int enter_session(const struct spawn_spec *spec)
{
	if (!spec->foreground)
		return setsid() < 0 ? -1 : 0;
	if (setpgid(0, 0) < 0)
		return -1;
	/* SIGTTOU is blocked here, so a background process may do this. */
	(void)tcsetpgrp(STDIN_FILENO, getpid());
	return 0;
}

/* Where the kernel could not make it in there. */
static int enter_cgroup(const struct spawn_spec *spec)
{
	int fd, r;

	if (spec->cgroup < 0)
		return 0;
	fd = openat(spec->cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	r = write(fd, "0", 1) < 0 ? -1 : 0;
	(void)close(fd);
	return r;
}

/*
 * Each source is first moved out of the way of every target, then to its place: no order of
 * descriptors can overwrite one that is still needed.
 */
static int place_descriptors(const struct spawn_spec *spec)
{
	int from[4] = { spec->stdio[0], spec->stdio[1], spec->stdio[2], spec->extra };
	int to[4] = { 0, 1, 2, spec->extra_to };
	int above = spec->extra_to > 2 ? spec->extra_to + 1 : 3;

	for (size_t i = 0; i < ARRAY_SIZE(from); i++) {
		if (from[i] < 0 || from[i] == to[i])
			continue;
		from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, above);
		if (from[i] < 0)
			return -1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(from); i++) {
		if (from[i] < 0)
			continue;
		if (from[i] == to[i]) {
			if (fcntl(to[i], F_SETFD, 0) < 0)
				return -1;
		} else if (dup3(from[i], to[i], 0) < 0) {
			return -1;
		}
	}
	return 0;
}

static int close_range_from(unsigned first, unsigned last)
{
	return first > last ? 0 : (int)syscall(SYS_close_range, first, last, 0);
}

/*
 * Up to here the table of descriptors may be the parent's, who may have one for each of ten thousand
 * children.  What is above all that is needed is neither copied nor closed one by one.
 */
static int leave_descriptors(const struct spawn_spec *spec)
{
	int top = spec->extra;

	for (size_t i = 0; i < ARRAY_SIZE(spec->stdio); i++)
		if (spec->stdio[i] > top)
			top = spec->stdio[i];
	if (syscall(SYS_close_range, (unsigned)top + 1, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0)
		return 0;
	return errno == ENOSYS ? 0 : -1;
}

/* A child gets 0, 1, 2 and what was declared, whoever forgot a CLOEXEC. */
static int close_others(const struct spawn_spec *spec)
{
	int r;

	if (spec->extra < 0) {
		r = close_range_from(3, UINT_MAX);
	} else {
		r = close_range_from(3, (unsigned)spec->extra_to - 1);
		if (r == 0)
			r = close_range_from((unsigned)spec->extra_to + 1, UINT_MAX);
	}
	if (r == 0 || (errno != ENOSYS && errno != EPERM))
		return r;
	/*
	 * Before Linux 5.9, or in a sandbox that refuses what it does not know.  Everything of ours is
	 * CLOEXEC, only inherited ones are left.
	 */
	for (int fd = 3; fd < 1024; fd++)
		if (fd != spec->extra_to || spec->extra < 0)
			(void)close(fd);
	return 0;
}

static int drop_groups(const struct spawn_spec *spec)
{
	if (spec->set_user)
		return setgroups(spec->n_groups, spec->groups);
	return spec->set_group ? setgroups(0, NULL) : 0;
}

static int take_group(const struct spawn_spec *spec)
{
	gid_t real, effective, saved;

	if (!spec->set_user && !spec->set_group)
		return 0;
	if (setresgid(spec->gid, spec->gid, spec->gid) < 0 ||
	    getresgid(&real, &effective, &saved) < 0)
		return -1;
	if (real != spec->gid || effective != spec->gid || saved != spec->gid) {
		errno = EPERM;
		return -1;
	}
	return 0;
}

static int take_user(const struct spawn_spec *spec)
{
	uid_t real, effective, saved;

	if (!spec->set_user)
		return 0;
	if (setresuid(spec->uid, spec->uid, spec->uid) < 0 ||
	    getresuid(&real, &effective, &saved) < 0)
		return -1;
	if (real != spec->uid || effective != spec->uid || saved != spec->uid) {
		errno = EPERM;
		return -1;
	}
	return 0;
}

static const char *search_path(char *const *envp)
{
	for (; *envp; envp++)
		if (strncmp(*envp, "PATH=", 5) == 0)
			return *envp + 5;
	return DEFAULT_PATH;
}

/* execvp(3) with the child's own PATH; EACCES is remembered over the ENOENT of later places. */
static void execute(const struct spawn_spec *spec)
{
	const char *name = spec->argv[0];
	size_t name_length = strlen(name);
	char file[PATH_MAX];
	int error = ENOENT;

	if (strchr(name, '/') || !*name) {
		(void)execve(name, spec->argv, spec->envp);
		return;
	}
	for (const char *p = search_path(spec->envp), *end; p; p = *end ? end + 1 : NULL) {
		end = strchrnul(p, ':');

		size_t length = (size_t)(end - p);

		if (length + name_length + 2 > sizeof(file))
			continue;
		memcpy(file, p, length);
		file[length] = '/';
		memcpy(file + length + (length > 0), name, name_length + 1);
		(void)execve(file, spec->argv, spec->envp);
		if (errno == EACCES)
			error = EACCES;
		else if (errno != ENOENT && errno != ENOTDIR)
			return;
	}
	errno = error;
}

static void set_ignored(const sigset_t *ignored)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (sigismember(ignored, signo) == 1)
			(void)sigaction(signo, &ignore, NULL);
}

_Noreturn void child_run(const struct spawn_spec *spec, struct spawn_failure *failure)
{
	/* With the parent's table of descriptors, perhaps: it stands still. */
	if (enter_cgroup(spec) < 0)
		fail(failure, SPAWN_STEP_CGROUP);
	if (leave_descriptors(spec) < 0)
		fail(failure, SPAWN_STEP_CLOSE);
	if (enter_session(spec) < 0)
		fail(failure, SPAWN_STEP_SESSION);
	if (place_descriptors(spec) < 0)
		fail(failure, SPAWN_STEP_STDIO);
	if (close_others(spec) < 0)
		fail(failure, SPAWN_STEP_CLOSE);
	if (spec->descriptors && setrlimit(RLIMIT_NOFILE, spec->descriptors) < 0)
		fail(failure, SPAWN_STEP_CLOSE);
	if (spec->umask >= 0)
		(void)umask((mode_t)spec->umask);
	if (drop_groups(spec) < 0)
		fail(failure, SPAWN_STEP_GROUPS);
	if (take_group(spec) < 0)
		fail(failure, SPAWN_STEP_GROUP);
	if (take_user(spec) < 0)
		fail(failure, SPAWN_STEP_USER);
	/* As the user, who may see less than root does, or more where root is squashed. */
	if (spec->directory && chdir(spec->directory) < 0)
		fail(failure, SPAWN_STEP_DIRECTORY);
	if (spec->ignored)
		set_ignored(spec->ignored);
	if (sigprocmask(SIG_SETMASK, spec->mask, NULL) < 0)
		fail(failure, SPAWN_STEP_EXEC);
	execute(spec);
	fail(failure, SPAWN_STEP_EXEC);
}
