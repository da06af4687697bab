/* The functions about processes that the daemon calls, on the table of the world. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/spawn/adjust.h"
#include "sys/process/children.h"
#include "sys/process/proc.h"
#include "sys/process/reap.h"
#include "sys/process/signals.h"
#include "sys/process/usage.h"
#include "sys/process/command.h"
#include "sys/spawn/child-attributes.h"
#include "sys/spawn/environment.h"
#include "sys/spawn/spawn.h"
#include "daemon/loop/closer.h"
#include "daemon/loop/roster.h"
#include "daemon/main/fault.h"
#include "tests/sim/descriptors.h"
#include "tests/sim/group.h"
#include "tests/sim/kernel.h"
#include "tests/sim/run.h"
#include "tests/sim/system.h"

#define WRAP(result, name, ...)            \
	result __wrap_##name(__VA_ARGS__); \
	result __wrap_##name(__VA_ARGS__)

/* --- the daemon itself: its own process is that of the test --- */

static int roster = -1; /* a real file */
static bool died;

WRAP(uid_t, geteuid, void)
{
	return 0;
}

WRAP(void, fault_begin, struct signals *was, char *const *argv, struct log *log, int *history,
     struct crash_history *read)
{
	(void)sigemptyset(&was->mask);
	(void)sigemptyset(&was->ignored);
	*history = roster;
	read->reason = died ? CRASH_FAULT : CRASH_NONE;
}

WRAP(void, roster_close_strays, const struct roster *former)
{
	descriptors_close_inherited();
}

ssize_t __real_pwrite(int fd, const void *data, size_t n, off_t offset);
WRAP(ssize_t, pwrite, int fd, const void *data, size_t n, off_t offset)
{
	run_note_change();
	return __real_pwrite(fd, data, n, offset);
}

void system_begin(bool dies)
{
	if (roster >= 0)
		(void)close(roster);
	roster = dies ? memfd_create("roster", MFD_CLOEXEC) : -1;
	died = false;
}

void system_die(void)
{
	died = true;
	descriptors_execute();
}

WRAP(void, attributes_drop_inheritable, void)
{
}

WRAP(void, command_watch_parent, const struct command_options *options, pid_t parent)
{
}

WRAP(int, prctl, int option, ...)
{
	return 0;
}

WRAP(int, getrlimit, int resource, struct rlimit *ret)
{
	errno = EINVAL;
	return -1;
}

/* --- making processes --- */

static const char *row_variable(char *const *envp, const char *name)
{
	size_t length = strlen(name);

	for (; *envp; envp++)
		if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
			return *envp + length + 1;
	return "";
}

/* Runs are counted by the rows of the same node and command; the number is part of the world. */
static unsigned row_count_run(const struct row *row, const char *command)
{
	static struct {
		uint64_t world;
		unsigned n;
		char key[2 * KERNEL_NODE];
	} runs[256];
	char key[2 * KERNEL_NODE];
	unsigned hash = 5381;

	(void)snprintf(key, sizeof(key), "%s %s", row->node, command);
	for (const char *c = key; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	for (size_t i = 0; i < 256; i++) {
		size_t at = (hash + i) % 256;

		if (runs[at].world == kernel.world && strcmp(runs[at].key, key) == 0)
			return ++runs[at].n;
		if (runs[at].world == kernel.world)
			continue;
		runs[at].world = kernel.world;
		runs[at].n = 1;
		(void)snprintf(runs[at].key, sizeof(runs[at].key), "%s", key);
		return 1;
	}
	return 1;
}

/* Moves a new process to its group.  Returns an errno if the kernel refuses that. */
static int row_enter_group(struct row *row, int fd)
{
	const struct descriptor *d = fd > 0 ? descriptors_find(fd) : NULL;
	const struct group *group = d ? groups_at((int)d->number) : NULL;
	int error = group ? kernel_fails(FAULT_ENTER) : 0;

	if (!group || error)
		return error;
	groups_leave(row->control_group);
	row->control_group = (int)d->number;
	groups_enter(row->control_group);
	if (group->spent)
		kernel_end(row, true, SIGKILL);
	return 0;
}

static struct row *row_spawn(const struct spawn_spec *spec, int *refused)
{
	struct row *row = kernel_fork(kernel.daemon);

	if (!row)
		return NULL;
	program_parse(&row->program, spec->argv);
	row->group = row->session = row->pid;
	(void)snprintf(row->node, sizeof(row->node), "%s",
		       row_variable(spec->envp, "SWANSONG_NODE"));
	(void)snprintf(row->notify, sizeof(row->notify), "%s",
		       row_variable(spec->envp, "NOTIFY_SOCKET"));
	row->run = row_count_run(row, spec->argv[0]);
	if (row->calm)
		row->program.starts = 0;
	row->exec_error = kernel_fails(FAULT_EXEC);
	row->state = ROW_STARTING;
	*refused = row_enter_group(row, spec->cgroup);
	if (!row_is_alive(row))
		return row;
	row->exec_usec = kernel.now_usec + (uint64_t)row->program.starts * USEC_PER_MSEC;
	if (row->program.starts == 0 && kernel_random(2) == 0)
		kernel_run();
	return row;
}

WRAP(int, spawn_begin, const struct spawn_spec *spec, struct spawn_pool *pool, struct spawning *ret,
     int *error)
{
	static struct spawn_block block;
	int fault = kernel_fails(FAULT_SPAWN);
	struct descriptor *d;
	struct row *row;
	int fd;

	*error = 0;
	run_note_change();
	if (fault)
		return -fault;
	fd = descriptors_open(DESCRIPTOR_EXEC);
	row = row_spawn(spec, error);
	if (!row) {
		(void)descriptors_close(fd);
		return -EAGAIN;
	}
	d = descriptors_find(fd);
	if (d)
		d->pid = row->pid;
	*ret = (struct spawning){ .pid = row->pid, .fd = fd, .block = &block };
	return 0;
}

WRAP(void, spawn_abandon, struct spawning *s)
{
	if (s->block)
		(void)descriptors_close(s->fd);
	s->block = NULL;
}

WRAP(int, spawn_check, struct spawning *s, struct spawn_pool *pool, struct spawn_failure *failure,
     int *error)
{
	const struct row *row = kernel_find(s->pid);

	*error = 0;
	*failure = (struct spawn_failure){ .step = SPAWN_STEP_NONE };
	if (row && row->state == ROW_STARTING)
		return SPAWN_E_PENDING;
	__wrap_spawn_abandon(s);
	if (!row || !row->exec_error || row->signaled)
		return 0;
	*failure = (struct spawn_failure){ .step = SPAWN_STEP_EXEC, .error = row->exec_error };
	return SPAWN_E_CHILD;
}

WRAP(void, spawn_note_death, const struct spawning *s)
{
}

WRAP(enum spawn_step, spawn_step_of, const struct spawning *s)
{
	return SPAWN_STEP_NONE;
}

/* Helper processes of the daemon read and write no files here: they succeed after a millisecond. */
WRAP(pid_t, fork, void)
{
	struct row *row = kernel_fork(kernel.daemon);

	if (!row) {
		errno = EAGAIN;
		return -1;
	}
	row->group = row->session = kernel.daemon;
	row->exit_usec = kernel.now_usec + USEC_PER_MSEC;
	return row->pid;
}

/* A copy of the daemon does its work at once, without a fault, and ends a moment later. */
int __real_closer_call(struct closer *closer, int (*fn)(void *arg), void *arg);
WRAP(int, closer_call, struct closer *closer, int (*fn)(void *arg), void *arg)
{
	int r = __real_closer_call(closer, fn, arg);

	if (r == 0) {
		__typeof__(kernel.faults) faults;

		memcpy(&faults, &kernel.faults, sizeof(faults));
		memset(&kernel.faults, 0, sizeof(kernel.faults));
		(void)fn(arg);
		memcpy(&kernel.faults, &faults, sizeof(faults));
	}
	return r;
}

WRAP(int, adjust_process, pid_t pid, const struct attributes *from, const struct attributes *to,
     const char **key)
{
	return kernel_find(pid) ? 0 : -ESRCH;
}

/* A program grows with its pid. */
WRAP(int, usage_proportional, pid_t pid, const char *group, uint64_t *ret)
{
	*ret = kernel_find(pid) ? (uint64_t)(pid % 8) << 24 : 0;
	return 0;
}

WRAP(void, fd_close_above, int fd)
{
}

/* --- signals and ends --- */

WRAP(int, kill, pid_t pid, int signo)
{
	int error = kernel_kill(pid, signo);

	if (!error)
		return 0;
	errno = error;
	return -1;
}

WRAP(pid_t, getsid, pid_t pid)
{
	const struct row *row = kernel_find(pid);

	return row ? row->session : -1;
}

static void row_report(struct row *row, void (*report)(const struct reap_exit *exit, void *arg),
		       void *arg)
{
	const struct reap_exit exit = {
		.pid = row->pid, .signaled = row->signaled, .value = row->value, .uid = geteuid()
	};

	report(&exit, arg);
	run_note_change();
	kernel_collect(row);
}

static bool row_is_collectable(const struct row *row)
{
	return row->state == ROW_DEAD && row->parent == kernel.daemon;
}

WRAP(unsigned, reap_children, unsigned max, void (*report)(const struct reap_exit *exit, void *arg),
     void *arg)
{
	unsigned n = 0;

	for (size_t i = 0; i < kernel.n_rows && n < max; i++) {
		if (!row_is_collectable(&kernel.rows[i]))
			continue;
		row_report(&kernel.rows[i], report, arg);
		n++;
	}
	return n;
}

WRAP(bool, reap_child, pid_t pid, void (*report)(const struct reap_exit *exit, void *arg),
     void *arg)
{
	struct row *row = kernel_find(pid);

	if (!row || !row_is_collectable(row))
		return false;
	row_report(row, report, arg);
	return true;
}

/* --- what /proc shows --- */

WRAP(int, proc_read, pid_t pid, struct proc_info *ret)
{
	const struct row *row = kernel_find(pid);
	int error = row ? kernel_fails(FAULT_OPEN) : ENOENT;

	*ret = (struct proc_info){ .name = "swansongd" };
	if (pid == kernel.daemon)
		return 0;
	if (error)
		return -error;
	*ret = (struct proc_info){
		.parent = row->parent,
		.group = row->group,
		.session = row->session,
		.state = row->state == ROW_DEAD ? 'Z'
			 : row->suspended	? 'T'
						: 'S',
		.executed = row->state != ROW_STARTING && !row->exec_error,
		.started_usec = row->born_usec,
	};
	(void)strcpy(ret->name, ret->executed ? "program" : "swansongd");
	return 0;
}

WRAP(pid_t, getpgid, pid_t pid)
{
	const struct row *row = kernel_find(pid);

	return row ? row->group : -1;
}

WRAP(int, proc_read_child, pid_t pid, struct proc_info *ret)
{
	const struct row *row = kernel_find(pid);

	*ret = (struct proc_info){ .parent = kernel.daemon, .group = pid };
	return row && row->parent == kernel.daemon && row->group == pid ? 0 : -ECHILD;
}

WRAP(int, proc_uid, pid_t pid, uid_t *ret)
{
	*ret = geteuid();
	return kernel_find(pid) ? -kernel_fails(FAULT_OPEN) : -ENOENT;
}

WRAP(int, proc_age, pid_t pid, uint64_t *ret_usec)
{
	const struct row *row = kernel_find(pid);

	*ret_usec = row ? kernel.now_usec - row->born_usec : 0;
	return row ? -kernel_fails(FAULT_OPEN) : -ENOENT;
}

WRAP(int, environment_read, pid_t pid, const char *name, char *buf, size_t size)
{
	const struct row *row = kernel_find(pid);

	int error = row ? kernel_fails(FAULT_OPEN) : ENOENT;

	if (error)
		return -error;
	if (row->state == ROW_DEAD)
		return -ENODATA;
	if (row->state == ROW_STARTING || strcmp(name, "SWANSONG_NODE") != 0 || !*row->node)
		return -ENOENT;
	(void)snprintf(buf, size, "%s", row->node);
	return 0;
}

WRAP(bool, proc_would_end, pid_t pid, int signo)
{
	return false;
}

WRAP(int, proc_open, pid_t pid)
{
	int error = kernel_find(pid) ? kernel_fails(FAULT_OPEN) : ESRCH, fd;

	if (error)
		return -error;
	fd = descriptors_open(DESCRIPTOR_PID);
	descriptors_find(fd)->pid = pid;
	return fd;
}

/* Of all calls without a function of the C library the daemon makes one on descriptors of the world. */
long __real_syscall(long number, ...);
WRAP(long, syscall, long number, ...)
{
	const struct descriptor *d;
	long args[6];
	va_list ap;

	va_start(ap, number);
	for (size_t i = 0; i < 6; i++)
		args[i] = va_arg(ap, long);
	va_end(ap);
	d = number == SYS_pidfd_send_signal ? descriptors_find((int)args[0]) : NULL;
	if (!d)
		return __real_syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
	return __wrap_kill(d->pid, (int)args[1]);
}

/* Lists have the oldest first.  Returns the pid that follows @pid; 0: there is none. */
static pid_t row_after(pid_t pid)
{
	pid_t next = 0;

	for (size_t i = 0; i < kernel.n_rows; i++) {
		const struct row *row = &kernel.rows[i];

		if (row->state != ROW_FREE && row->pid > pid && (!next || row->pid < next))
			next = row->pid;
	}
	return next;
}

WRAP(int, proc_each, int (*each)(pid_t pid, void *arg), void *arg)
{
	int r = 0;

	for (pid_t pid = row_after(0); pid && r == 0; pid = row_after(pid))
		r = each(pid, arg);
	return r;
}

WRAP(int, proc_each_child, pid_t pid, void (*each)(pid_t pid, void *arg), void *arg)
{
	for (pid_t child = row_after(0); child; child = row_after(child))
		if (kernel_find(child)->parent == pid)
			each(child, arg);
	return 0;
}

WRAP(int, children_open, struct children *children, pid_t parent)
{
	return 0;
}

WRAP(void, children_close, struct children *children)
{
}

static bool row_is_of_daemon(const struct row *row)
{
	return row->state != ROW_FREE && row->parent == kernel.daemon;
}

WRAP(int, children_read, struct children *children, void (*each)(pid_t pid, void *arg), void *arg)
{
	int n = -kernel_fails(FAULT_OPEN);
	pid_t list[ARRAY_SIZE(kernel.rows)];

	for (pid_t pid = row_after(0); n >= 0 && pid; pid = row_after(pid))
		if (row_is_of_daemon(kernel_find(pid)))
			list[n++] = pid;
	for (int i = 0; i < n; i++) {
		struct row *row = kernel_find(list[i]);

		if (row->state == ROW_RUNNING && row->program.role == ROLE_CHILD &&
		    kernel_fails(FAULT_LIST))
			row_leave(row);
		each(list[i], arg);
	}
	return n;
}

WRAP(bool, children_exceed, struct children *children, unsigned n)
{
	unsigned all = 0;

	for (size_t i = 0; i < kernel.n_rows; i++)
		all += row_is_of_daemon(&kernel.rows[i]);
	return all > n;
}
