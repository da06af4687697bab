/*
 * The order of the steps is fixed: control group, session and terminal, signals, descriptors, input,
 * attributes that need privileges, groups and user, attributes of the user, directory, exec.  A
 * failed step ends the child; the parent makes the message.  From the step of the signals on SIGTERM
 * ends the child, in each step in which a file system may keep it.
 */
#include "sys/spawn/child.h"

#include <linux/keyctl.h>
#include <sys/ioctl.h>

#include "sys/spawn/child-attributes.h"
#include "sys/spawn/raw.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Bytes of the kernel's set of signals. */
#define KERNEL_MASK 8

#define KERNEL_RESTORER 0x04000000UL /* SA_RESTORER, which the C library keeps for itself */

void child_report(const struct spawn_block *block, const struct spawn_failure *failure)
{
	(void)raw(SYS_write, block->report, failure, sizeof(*failure));
}

_Noreturn void child_exit(struct spawn_block *block, long error)
{
	block->failure.step = block->step;
	block->failure.error = (int)-error;
	child_report(block, &block->failure);
	for (;;)
		(void)raw(SYS_exit_group, error == -ENOENT ? 127 : 126);
}

/* Ends the child if @r, the result of the present step, is an error. */
static SPAWN_PLAIN void child_check(struct spawn_block *block, long r)
{
	if (r < 0)
		child_exit(block, r);
}

static long child_enter_session(const struct spawn_spec *spec)
{
	pid_t pid;
	long r;

	if (!spec->keep_session)
		return raw(SYS_setsid);
	r = raw(SYS_setpgid, 0, 0);
	/* SIGTTOU is blocked here, so a background process may do this. */
	pid = (pid_t)raw(SYS_getpid);
	if (r == 0 && spec->terminal >= 0)
		(void)raw(SYS_ioctl, spec->terminal, TIOCSPGRP, &pid);
	return r;
}

/* The standard streams, the files and the report as one list, in the order of their targets. */
static struct spawn_file child_file_at(const struct spawn_spec *spec, size_t i)
{
	if (i < ARRAY_SIZE(spec->stdio))
		return (struct spawn_file){ spec->stdio[i], (int)i };
	return spec->files[i - ARRAY_SIZE(spec->stdio)];
}

static long child_place_descriptor(int from, int to)
{
	if (from == to)
		return raw(SYS_fcntl, to, F_SETFD, 0);
	return raw(SYS_dup3, from, to, 0);
}

/* For kernels that cannot create the child in its group. */
static void child_enter_cgroup(const struct spawn_block *block)
{
	struct spawn_failure failure = { .step = SPAWN_STEP_CGROUP };
	int group = block->spec.cgroup;
	long fd, r;

	if (group <= 0 || block->inside)
		return;
	fd = r = raw(SYS_openat, group, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		r = raw(SYS_write, fd, "0", 1);
		(void)raw(SYS_close, fd);
	}
	failure.error = (int)-r;
	if (r < 0)
		child_report(block, &failure);
}

/*
 * A source with the number of a target is first moved behind all targets, then each source to its
 * target: so no descriptor is overwritten that is still needed.
 */
static long child_place_descriptors(struct spawn_block *block)
{
	const struct spawn_spec *spec = &block->spec;
	size_t n = ARRAY_SIZE(spec->stdio) + spec->n_files;
	long moved[ARRAY_SIZE(spec->stdio) + SPAWN_FILES_MAX];
	int above = child_file_at(spec, n - 1).to + 1;
	long r = 0;

	if (spec->n_files > SPAWN_FILES_MAX)
		return -E2BIG;
	if (block->report >= 0 && block->report < above)
		r = raw(SYS_fcntl, block->report, F_DUPFD_CLOEXEC, above);
	if (r > 0)
		block->report = (int)r;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		struct spawn_file file = child_file_at(spec, i);

		moved[i] = r = file.from;
		if (file.from != file.to && file.from < above)
			moved[i] = r = raw(SYS_fcntl, file.from, F_DUPFD_CLOEXEC, above);
	}
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = child_place_descriptor((int)moved[i], child_file_at(spec, i).to);
	return r;
}

static long child_close_range(unsigned first, unsigned last)
{
	return first > last ? 0 : raw(SYS_close_range, first, last, 0);
}

/*
 * For Linux before 5.9, or a sandbox that refuses unknown calls.  The parent's own descriptors are
 * CLOEXEC; only inherited ones remain.
 */
static void child_close_one_by_one(const struct spawn_block *block)
{
	const struct spawn_spec *spec = &block->spec;
	size_t next = 0;

	for (int fd = 3; fd < 1024; fd++) {
		if (next < spec->n_files && spec->files[next].to == fd)
			next++;
		else if (fd != block->report)
			(void)raw(SYS_close, fd);
	}
}

/*
 * The child gets 0, 1, 2 and its files, even if a library has forgotten CLOEXEC.  The others are
 * closed now and not by the exec: a step that hangs must not keep the descriptors of other services
 * open.
 */
static long child_close_others(const struct spawn_block *block)
{
	const struct spawn_spec *spec = &block->spec;
	unsigned from = 3;
	long r = 0;

	for (size_t i = 0; r == 0 && i < spec->n_files; i++) {
		r = child_close_range(from, (unsigned)spec->files[i].to - 1);
		from = (unsigned)spec->files[i].to + 1;
	}
	if (r == 0 && block->report >= 0) {
		r = child_close_range(from, (unsigned)block->report - 1);
		from = (unsigned)block->report + 1;
	}
	if (r == 0)
		r = child_close_range(from, UINT_MAX);
	if (r != -ENOSYS && r != -EPERM)
		return r;
	child_close_one_by_one(block);
	return 0;
}

/*
 * The pipe of an output is opened here, and not by the parent: a writer may keep it locked.  The exec closes the
 * first descriptor of it.  Without /proc the flags are shared.
 */
static long child_reopen_output(const struct spawn_spec *spec)
{
	static const char *const paths[] = { NULL, "/proc/self/fd/1", "/proc/self/fd/2" };
	long own = -1, r = 0;

	for (int fd = STDOUT_FILENO; r >= 0 && fd <= STDERR_FILENO; fd++) {
		if (!(spec->reopen & 1U << fd))
			continue;
		if (own < 0 || !(spec->reopen & 1))
			own = r = raw(SYS_openat, AT_FDCWD, paths[fd], O_WRONLY | O_CLOEXEC);
		if (r >= 0)
			r = raw(SYS_dup3, own, fd, 0);
	}
	return r == -ENOENT ? 0 : r;
}

/* O_NONBLOCK: does not wait for the other end of a FIFO. */
static long child_open_input(const struct spawn_spec *spec)
{
	long fd, r;

	fd = r = spec->open_input(spec->input, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	if (r >= 0)
		r = raw(SYS_fcntl, fd, F_SETFL, 0);
	if (r >= 0)
		r = raw(SYS_dup3, fd, STDIN_FILENO, 0);
	if (fd >= 0)
		(void)raw(SYS_close, fd);
	return r;
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

/* Sets the real, effective and saved number by @set, and compares them with the result of @get. */
static long child_set_ids(long set, long get, unsigned id)
{
	unsigned ids[3];
	long r = raw(set, id, id, id);

	if (r == 0)
		r = raw(get, &ids[0], &ids[1], &ids[2]);
	if (r == 0 && (ids[0] != id || ids[1] != id || ids[2] != id))
		r = -EPERM;
	return r;
}

static const char *child_search_path(char *const *envp)
{
	for (; *envp; envp++)
		if (strncmp(*envp, "PATH=", 5) == 0)
			return *envp + 5;
	return DEFAULT_PATH;
}

/* A script without #! is run by the shell.  Return: -errno. */
static long child_execute_file(const struct spawn_block *block, const char *file)
{
	const struct spawn_spec *spec = &block->spec;
	char **script = block->script;
	long r = raw(SYS_execve, file, spec->argv, spec->envp);

	if (r != -ENOEXEC || !script)
		return r;
	script[0] = (char *)"sh";
	script[1] = (char *)file;
	for (size_t i = 1; spec->argv[i - 1]; i++)
		script[i + 1] = spec->argv[i];
	(void)raw(SYS_execve, "/bin/sh", script, spec->envp);
	return r;
}

/*
 * Not memcpy(): its checked variant alone would keep 64 KiB more of glibc in the memory of an init.
 */
static void child_copy_bytes(char *to, const char *from, size_t n)
{
	while (n-- > 0)
		*to++ = *from++;
}

/*
 * execvp(3) with the child's own PATH; EACCES is remembered over the ENOENT of later places.  Return:
 * -errno.
 */
long child_execute(const struct spawn_block *block)
{
	const struct spawn_spec *spec = &block->spec;
	const char *name = spec->argv[0];
	size_t name_length = strlen(name);
	char file[PATH_MAX];
	long error = -ENOENT;

	if (spec->program > 0)
		return raw(SYS_execveat, spec->program, "", spec->argv, spec->envp, AT_EMPTY_PATH);
	if (strchr(name, '/') || !*name)
		return child_execute_file(block, name);
	for (const char *p = child_search_path(spec->envp), *end; p; p = *end ? end + 1 : NULL) {
		end = strchrnul(p, ':');

		size_t length = (size_t)(end - p);
		long r;

		if (length + name_length + 2 > sizeof(file))
			continue;
		child_copy_bytes(file, p, length);
		file[length] = '/';
		child_copy_bytes(file + length + (length > 0), name, name_length + 1);
		r = child_execute_file(block, file);
		if (r == -EACCES)
			error = -EACCES;
		else if (r != -ENOENT && r != -ENOTDIR)
			return r;
	}
	return error;
}

/* A handler in place of the default action: no core is written (child_set_signals()). */
static SPAWN_PLAIN void child_kill(int signo)
{
	(void)raw(SYS_kill, raw(SYS_getpid), SIGKILL);
}

/* child_set_handler() leaves an ignored signal as it is: every signal is blocked meanwhile. */
#if SPAWN_SHARES_MEMORY
/* As the kernel has it on the processors of sys/spawn/raw.h. */
struct kernel_action {
	void (*handler)(int signo);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

static void child_set_handler(int signo, void (*handler)(int signo))
{
	/* x86 wants a restorer, which is not reached. */
	struct kernel_action action = { handler, KERNEL_RESTORER, NULL, 0 };
	struct kernel_action old = { .handler = SIG_DFL };

	(void)raw(SYS_rt_sigaction, signo, &action, &old, KERNEL_MASK);
	if (old.handler == SIG_IGN)
		(void)raw(SYS_rt_sigaction, signo, &old, NULL, KERNEL_MASK);
}
#else
static void child_set_handler(int signo, void (*handler)(int signo))
{
	struct sigaction old = { .sa_handler = SIG_DFL };

	(void)sigaction(signo, &(struct sigaction){ .sa_handler = handler }, &old);
	if (old.sa_handler == SIG_IGN)
		(void)sigaction(signo, &old, NULL);
}
#endif

static bool child_is_core_signal(int signo)
{
	static const unsigned long set =
		1UL << SIGQUIT | 1UL << SIGILL | 1UL << SIGTRAP | 1UL << SIGABRT | 1UL << SIGBUS |
		1UL << SIGFPE | 1UL << SIGSEGV | 1UL << SIGXCPU | 1UL << SIGXFSZ | 1UL << SIGSYS;

	return signo < 32 && set >> signo & 1;
}

/*
 * A handler of the parent must not run in the child: nothing else ends with a signal.  The mask
 * follows, so that a signal ends the child from here on.  With the core of a process, Linux before
 * 5.16 kills all that share its memory: so such a signal, which the user of the service may send,
 * ends the child without one.  The exec takes the handler away.
 */
static long child_set_signals(const struct spawn_block *block)
{
	const struct spawn_spec *spec = &block->spec;

	for (int signo = 1; signo <= KERNEL_MASK * CHAR_BIT; signo++) {
		bool dumps = child_is_core_signal(signo);

		if (spec->ignored && sigismember(spec->ignored, signo) == 1)
			child_set_handler(signo, SIG_IGN);
		else if (dumps || !block->reset)
			child_set_handler(signo, dumps ? child_kill : SIG_DFL);
	}
	return raw(SYS_rt_sigprocmask, SIG_SETMASK, spec->mask, NULL, KERNEL_MASK);
}

/* Leaves the things that a child takes over from its parent. */
static void child_leave_parent(struct spawn_block *block)
{
	const struct spawn_spec *spec = &block->spec;

	block->step = SPAWN_STEP_STDIO;
	if (block->shares)
		child_check(block, spawn_block_take(block));
	child_enter_cgroup(block);
	block->step = SPAWN_STEP_SESSION;
	child_check(block, child_enter_session(spec));
	block->step = SPAWN_STEP_TERMINAL;
	if (spec->take_terminal)
		child_check(block, raw(SYS_ioctl, STDIN_FILENO, TIOCSCTTY, 0));
	block->step = SPAWN_STEP_SIGNALS;
	child_check(block, child_set_signals(block));
	block->step = SPAWN_STEP_STDIO;
	if (!spec->keep_descriptors)
		child_check(block, child_place_descriptors(block));
	block->step = SPAWN_STEP_CLOSE;
	if (!spec->keep_descriptors)
		child_check(block, child_close_others(block));
	block->step = SPAWN_STEP_STDIO;
	child_check(block, child_reopen_output(spec));
	if (spec->descriptors)
		child_check(block, raw(SYS_prlimit64, 0, RLIMIT_NOFILE, spec->descriptors, NULL));
	if (spec->file_size)
		child_check(block, raw(SYS_prlimit64, 0, RLIMIT_FSIZE, spec->file_size, NULL));
}

static SPAWN_PLAIN void child_become_user(struct spawn_block *block)
{
	const struct spawn_spec *spec = &block->spec;
	const struct attributes *attributes = spec->attributes;

	if (attributes)
		child_check(block, child_attributes_before_user(attributes, &block->step,
								&block->failure.lowered));
	if (block->failure.lowered)
		child_report(block, &block->failure);
	if (spec->umask >= 0)
		(void)raw(SYS_umask, spec->umask);
	block->step = SPAWN_STEP_ROOT;
	if (spec->root) {
		child_check(block, raw(SYS_chroot, spec->root));
		child_check(block, raw(SYS_chdir, "/"));
	}
	/* Without the keys of other services; where there are none, or another user than root has few, it goes on. */
	if (raw(SYS_geteuid) == 0)
		(void)raw(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	block->step = SPAWN_STEP_GROUPS;
	if (spec->set_user || spec->set_group || spec->set_groups)
		child_check(block, raw(RAW_SETGROUPS, spec->n_groups, spec->groups));
	block->step = SPAWN_STEP_GROUP;
	if (spec->set_user || spec->set_group)
		child_check(block, child_set_ids(RAW_SETRESGID, RAW_GETRESGID, spec->gid));
	block->step = SPAWN_STEP_USER;
	if (spec->set_user)
		child_check(block, child_set_ids(RAW_SETRESUID, RAW_GETRESUID, spec->uid));
	if (attributes)
		child_check(block, child_attributes_as_user(attributes, &block->step));
}

static SPAWN_PLAIN void child_do_work(struct spawn_block *block)
{
	int r;

	block->step = block->spec.work->step;
	r = block->spec.work->run(&block->spec);
	child_check(block, r);
	if (r != SPAWN_WORK_EXECUTE)
		(void)raw(SYS_exit_group, r);
}

_Noreturn SPAWN_PLAIN void child_run(struct spawn_block *block)
{
	const struct spawn_spec *spec = &block->spec;

	child_leave_parent(block);
	if (spec->work)
		child_do_work(block);
	block->step = SPAWN_STEP_INPUT;
	if (spec->input)
		child_check(block, child_open_input(spec));
	child_become_user(block);
	/* As the user: its access may be less than root's, or more where NFS squashes root. */
	block->step = SPAWN_STEP_DIRECTORY;
	if (spec->directory)
		child_check(block, raw(SYS_chdir, spec->directory));
	if (spec->directory_fd > 0)
		child_check(block, raw(SYS_fchdir, spec->directory_fd));
	/* After the change of user, which resets the death signal. */
	block->step = SPAWN_STEP_PARENT;
	if (spec->death_signal) {
		child_check(block, raw(SYS_prctl, PR_SET_PDEATHSIG, spec->death_signal));
		if (raw(SYS_getppid) != spec->parent)
			(void)raw(SYS_kill, raw(SYS_getpid), spec->death_signal);
	}
	for (size_t i = 0; i < ARRAY_SIZE(spec->pid_places); i++)
		if (spec->pid_places[i])
			child_write_pid(spec->pid_places[i], (pid_t)raw(SYS_getpid));
	block->step = spec->before ? SPAWN_STEP_SANDBOX : SPAWN_STEP_EXEC;
	if (spec->before && block->report >= 0)
		child_check(block, child_place_descriptor(block->report, spec->report));
	child_exit(block, child_execute(block));
}
