/*
 * The order of the steps is fixed: control group, own table of descriptors, session and terminal,
 * descriptors, attributes that need privileges, groups and user, attributes of the user, directory,
 * signals, exec.  A failed step ends the child; the parent makes the message.
 */
#include "sys/spawn/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"
#include "sys/spawn/child-attributes.h"

#ifndef CLOSE_RANGE_UNSHARE /* the kernel's headers are not everywhere */
#define CLOSE_RANGE_UNSHARE (1u << 1)
#endif
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Only the step and errno: the parent makes the words. */
static _Noreturn void child_exit(struct spawn_failure *failure, enum spawn_step step)
{
	failure->step = step;
	failure->error = errno;
	_exit(errno == ENOENT ? 127 : 126);
}

static int child_enter_session(const struct spawn_spec *spec)
{
	if (!spec->keep_session)
		return setsid() < 0 ? -1 : 0;
	if (setpgid(0, 0) < 0)
		return -1;
	/* SIGTTOU is blocked here, so a background process may do this. */
	if (spec->terminal >= 0)
		(void)tcsetpgrp(spec->terminal, getpid());
	return 0;
}

/* The standard streams and the files as one list, in the order of their targets. */
static struct spawn_file child_file_at(const struct spawn_spec *spec, size_t i)
{
	if (i < ARRAY_SIZE(spec->stdio))
		return (struct spawn_file){ spec->stdio[i], (int)i };
	return spec->files[i - ARRAY_SIZE(spec->stdio)];
}

static int child_place_descriptor(int from, int to)
{
	if (from == to)
		return fcntl(to, F_SETFD, 0);
	return dup3(from, to, 0);
}

/* For kernels that cannot create the child in its group. */
static int child_enter_cgroup(const struct spawn_spec *spec)
{
	int fd, r;

	if (spec->cgroup <= 0)
		return 0;
	fd = openat(spec->cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	r = write(fd, "0", 1) < 0 ? -1 : 0;
	(void)close(fd);
	return r;
}

/*
 * A source with the number of a target is first moved behind all targets, then each source to its
 * target: so no descriptor is overwritten that is still needed.
 */
static int child_place_descriptors(const struct spawn_spec *spec)
{
	size_t n = ARRAY_SIZE(spec->stdio) + spec->n_files;
	int moved[ARRAY_SIZE(spec->stdio) + SPAWN_FILES_MAX];
	int above = child_file_at(spec, n - 1).to + 1;

	if (spec->n_files > SPAWN_FILES_MAX) {
		errno = E2BIG;
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		struct spawn_file file = child_file_at(spec, i);

		moved[i] = file.from;
		if (file.from != file.to && file.from < above)
			moved[i] = fcntl(file.from, F_DUPFD_CLOEXEC, above);
		if (moved[i] < 0)
			return -1;
	}
	for (size_t i = 0; i < n; i++)
		if (child_place_descriptor(moved[i], child_file_at(spec, i).to) < 0)
			return -1;
	return 0;
}

static int child_close_range_from(unsigned first, unsigned last)
{
	return first > last ? 0 : (int)syscall(SYS_close_range, first, last, 0);
}

/*
 * Until here the child may share the parent's table, which may have a descriptor for each of ten
 * thousand children.  Descriptors above all needed ones are neither copied nor closed one by one.
 */
static int child_leave_descriptors(const struct spawn_spec *spec)
{
	int top = 2;

	for (size_t i = 0; i < ARRAY_SIZE(spec->stdio) + spec->n_files; i++)
		if (child_file_at(spec, i).from > top)
			top = child_file_at(spec, i).from;
	if (syscall(SYS_close_range, (unsigned)top + 1, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0)
		return 0;
	/* A table that is not shared is closed later. */
	return spec->share_descriptors ? -1 : 0;
}

/*
 * For Linux before 5.9, or a sandbox that refuses unknown calls.  The parent's own descriptors are
 * CLOEXEC; only inherited ones remain.
 */
static void child_close_one_by_one(const struct spawn_spec *spec)
{
	size_t next = 0;

	for (int fd = 3; fd < 1024; fd++) {
		if (next < spec->n_files && spec->files[next].to == fd)
			next++;
		else
			(void)close(fd);
	}
}

/* The child gets 0, 1, 2 and its files, even if a library has forgotten CLOEXEC. */
static int child_close_others(const struct spawn_spec *spec)
{
	unsigned from = 3;
	int r = 0;

	for (size_t i = 0; r == 0 && i < spec->n_files; i++) {
		r = child_close_range_from(from, (unsigned)spec->files[i].to - 1);
		from = (unsigned)spec->files[i].to + 1;
	}
	if (r == 0)
		r = child_close_range_from(from, UINT_MAX);
	if (r == 0 || (errno != ENOSYS && errno != EPERM))
		return r;
	child_close_one_by_one(spec);
	return 0;
}

/* snprintf() is not safe here. */
static void child_write_pid(char *at, pid_t pid)
{
	char digits[SPAWN_PID_MAX];
	size_t n = 0;

	for (; pid > 0; pid /= 10)
		digits[n++] = (char)('0' + pid % 10);
	while (n > 0)
		*at++ = digits[--n];
	*at = '\0';
}

static void child_write_pids(const struct spawn_spec *spec)
{
	for (size_t i = 0; i < ARRAY_SIZE(spec->pid_places); i++)
		if (spec->pid_places[i])
			child_write_pid(spec->pid_places[i], getpid());
}

static int child_drop_groups(const struct spawn_spec *spec)
{
	if (!spec->set_user && !spec->set_group && !spec->set_groups)
		return 0;
	return setgroups(spec->n_groups, spec->groups);
}

static int child_set_group(const struct spawn_spec *spec)
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

static int child_set_user(const struct spawn_spec *spec)
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

static const char *child_search_path(char *const *envp)
{
	for (; *envp; envp++)
		if (strncmp(*envp, "PATH=", 5) == 0)
			return *envp + 5;
	return DEFAULT_PATH;
}

/* A script without #! is run by the shell. */
static void child_execute_file(const struct spawn_spec *spec, const char *file)
{
	char **script = spec->script;

	(void)execve(file, spec->argv, spec->envp);
	if (errno != ENOEXEC || !script)
		return;
	script[0] = (char *)"sh";
	script[1] = (char *)file;
	for (size_t i = 1; spec->argv[i - 1]; i++)
		script[i + 1] = spec->argv[i];
	(void)execve("/bin/sh", script, spec->envp);
	errno = ENOEXEC;
}

/*
 * Not memcpy(): its checked variant alone would keep 64 KiB more of glibc in the memory of an init.
 */
static void child_copy_bytes(char *to, const char *from, size_t n)
{
	while (n-- > 0)
		*to++ = *from++;
}

/* execvp(3) with the child's own PATH; EACCES is remembered over the ENOENT of later places. */
static void child_execute(const struct spawn_spec *spec)
{
	const char *name = spec->argv[0];
	size_t name_length = strlen(name);
	char file[PATH_MAX];
	int error = ENOENT;

	if (strchr(name, '/') || !*name) {
		child_execute_file(spec, name);
		return;
	}
	for (const char *p = child_search_path(spec->envp), *end; p; p = *end ? end + 1 : NULL) {
		end = strchrnul(p, ':');

		size_t length = (size_t)(end - p);

		if (length + name_length + 2 > sizeof(file))
			continue;
		child_copy_bytes(file, p, length);
		file[length] = '/';
		child_copy_bytes(file + length + (length > 0), name, name_length + 1);
		child_execute_file(spec, file);
		if (errno == EACCES)
			error = EACCES;
		else if (errno != ENOENT && errno != ENOTDIR)
			return;
	}
	errno = error;
}

static void child_set_ignored(const sigset_t *ignored)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (sigismember(ignored, signo) == 1)
			(void)sigaction(signo, &ignore, NULL);
}

/* A parent that ends before the request sends no signal: so its pid is compared afterwards. */
static int child_watch_parent(const struct spawn_spec *spec)
{
	if (!spec->death_signal)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, spec->death_signal) < 0)
		return -1;
	if (getppid() != spec->parent)
		(void)kill(getpid(), spec->death_signal);
	return 0;
}

_Noreturn void child_run(const struct spawn_spec *spec, struct spawn_failure *failure)
{
	const struct attributes *attributes = spec->attributes;
	enum spawn_step step = SPAWN_STEP_NONE;

	/*
	 * The table of descriptors may be the parent's until here, while the parent is suspended.
	 */
	if (child_enter_cgroup(spec) < 0)
		child_exit(failure, SPAWN_STEP_CGROUP);
	if (!spec->keep_descriptors && child_leave_descriptors(spec) < 0)
		child_exit(failure, SPAWN_STEP_CLOSE);
	if (child_enter_session(spec) < 0)
		child_exit(failure, SPAWN_STEP_SESSION);
	if (spec->take_terminal && ioctl(STDIN_FILENO, TIOCSCTTY, 0) < 0)
		child_exit(failure, SPAWN_STEP_TERMINAL);
	if (!spec->keep_descriptors && child_place_descriptors(spec) < 0)
		child_exit(failure, SPAWN_STEP_STDIO);
	if (!spec->keep_descriptors && child_close_others(spec) < 0)
		child_exit(failure, SPAWN_STEP_CLOSE);
	if (spec->descriptors && setrlimit(RLIMIT_NOFILE, spec->descriptors) < 0)
		child_exit(failure, SPAWN_STEP_CLOSE);
	if (attributes)
		step = child_attributes_before_user(attributes, &failure->limit);
	if (step != SPAWN_STEP_NONE)
		child_exit(failure, step);
	if (spec->umask >= 0)
		(void)umask((mode_t)spec->umask);
	if (child_drop_groups(spec) < 0)
		child_exit(failure, SPAWN_STEP_GROUPS);
	if (child_set_group(spec) < 0)
		child_exit(failure, SPAWN_STEP_GROUP);
	if (child_set_user(spec) < 0)
		child_exit(failure, SPAWN_STEP_USER);
	if (attributes)
		step = child_attributes_as_user(attributes);
	if (step != SPAWN_STEP_NONE)
		child_exit(failure, step);
	/* As the user: its access may be less than root's, or more where NFS squashes root. */
	if ((spec->directory && chdir(spec->directory) < 0) ||
	    (spec->directory_fd > 0 && fchdir(spec->directory_fd) < 0))
		child_exit(failure, SPAWN_STEP_DIRECTORY);
	/* After the change of user, which resets the death signal. */
	if (child_watch_parent(spec) < 0)
		child_exit(failure, SPAWN_STEP_PARENT);
	if (spec->ignored)
		child_set_ignored(spec->ignored);
	if (sigprocmask(SIG_SETMASK, spec->mask, NULL) < 0)
		child_exit(failure, SPAWN_STEP_EXEC);
	child_write_pids(spec);
	child_execute(spec);
	child_exit(failure, SPAWN_STEP_EXEC);
}
