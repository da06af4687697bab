/*
 * Rows are kept dense at the beginning of the table, so that a walk is short.  A dead process loses its
 * children to the daemon, which is the subreaper of all.  A stop signal acts at once, or after the time
 * that the program takes to end.
 */
#include "sys/process/usage.h"
#include "tests/sim/kernel.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/sim/files.h"
#include "tests/sim/group.h"
#include "tests/sim/run.h"
#include "tests/sim/system.h"

#define BEGIN_USEC UINT64_C(1000000000) /* times of 0 have a meaning of their own */
#define MSEC	   UINT64_C(1000)

struct kernel kernel;
void (*kernel_on_signal)(struct row *row, int signo);

void kernel_init(uint64_t seed, bool groups)
{
	memset(kernel.rows, 0, kernel.n_rows * sizeof(kernel.rows[0]));
	kernel.n_rows = 0;
	kernel.now_usec = BEGIN_USEC;
	kernel.daemon = getpid();
	kernel.last_pid = KERNEL_FIRST_PID;
	kernel.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	kernel.calm = false;
	kernel.shortages = 0;
	kernel.shortage_usec = KERNEL_NEVER;
	memset(kernel.faults, 0, sizeof(kernel.faults));
	kernel.pending = 0;
	kernel.pending_pid = 0;
	kernel.injected = kernel.sockets = 0;
	kernel.world++;
	kernel.daemon_group = 0;
	kernel.clock_offset_usec = 0;
	kernel.clock_was_set = kernel.freed = false;
	files_init();
	groups_init(groups);
}

unsigned kernel_random(unsigned n)
{
	kernel.random =
		kernel.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(kernel.random >> 33) % n;
}

void kernel_fault(enum fault fault, int error, unsigned n, unsigned skip)
{
	kernel.faults[fault].skip = skip;
	kernel.faults[fault].n = n;
	kernel.faults[fault].error = error;
}

static bool take_freed(void)
{
	bool was_freed = kernel.freed;

	kernel.freed = false;
	return was_freed;
}

int kernel_fails(enum fault fault)
{
	if (kernel.faults[fault].n == 0)
		return 0;
	if (kernel.faults[fault].skip > 0) {
		kernel.faults[fault].skip--;
		return 0;
	}
	/* Without free descriptors the one that was closed last is free. */
	if (kernel.faults[fault].error == EMFILE && take_freed())
		return 0;
	kernel.faults[fault].n--;
	kernel.injected++;
	return kernel.faults[fault].error;
}

struct row *kernel_fork(pid_t parent)
{
	const struct row *from = kernel_find(parent);
	struct row *row = kernel.rows;

	while (row < kernel.rows + kernel.n_rows && row->state != ROW_FREE)
		row++;
	if (row == kernel.rows + KERNEL_ROWS)
		return NULL;
	if (row == kernel.rows + kernel.n_rows)
		kernel.n_rows++;
	*row = (struct row){
		.state = ROW_RUNNING,
		.pid = ++kernel.last_pid,
		.parent = parent,
		.control_group = from ? from->control_group : kernel.daemon_group,
		.calm = kernel.calm,
		.born_usec = kernel.now_usec,
		.exec_usec = KERNEL_NEVER,
		.ready_usec = KERNEL_NEVER,
		.fork_usec = KERNEL_NEVER,
		.leave_usec = KERNEL_NEVER,
		.file_usec = KERNEL_NEVER,
		.exit_usec = KERNEL_NEVER,
	};
	groups_enter(row->control_group);
	return row;
}

bool row_is_of(const struct row *row, const char *path)
{
	size_t n = strlen(path);

	return strncmp(row->node, path, n) == 0 && (!row->node[n] || row->node[n] == '~');
}

struct row *kernel_find(pid_t pid)
{
	for (size_t i = 0; i < kernel.n_rows; i++)
		if (kernel.rows[i].state != ROW_FREE && kernel.rows[i].pid == pid)
			return &kernel.rows[i];
	return NULL;
}

void kernel_notify_daemon(int signo, pid_t pid)
{
	if (signo == SIGCHLD && !(kernel.pending & (UINT64_C(1) << SIGCHLD)))
		kernel.pending_pid = pid;
	kernel.pending |= UINT64_C(1) << signo;
}

void kernel_end(struct row *row, bool signaled, int value)
{
	groups_leave(row->control_group);
	row->control_group = -1;
	row->state = ROW_DEAD;
	row->signaled = signaled;
	row->value = value;
	row->exec_usec = row->ready_usec = row->fork_usec = KERNEL_NEVER;
	row->leave_usec = row->file_usec = row->exit_usec = KERNEL_NEVER;
	for (size_t i = 0; i < kernel.n_rows; i++) {
		struct row *child = &kernel.rows[i];

		if (child->state == ROW_FREE || child->parent != row->pid)
			continue;
		child->parent = kernel.daemon;
		if (child->state == ROW_DEAD)
			kernel_notify_daemon(SIGCHLD, child->pid);
	}
	if (row->parent == kernel.daemon)
		kernel_notify_daemon(SIGCHLD, row->pid);
	else
		kernel_collect(row);
}

void kernel_collect(struct row *row)
{
	row->state = ROW_FREE;
	while (kernel.n_rows > 0 && kernel.rows[kernel.n_rows - 1].state == ROW_FREE)
		kernel.n_rows--;
}

/* --- signals --- */

/* Signals that programs of the simulation handle without an end, besides SIGCONT. */
static bool kernel_is_harmless(int signo)
{
	return signo == SIGHUP || signo == SIGUSR1 || signo == SIGUSR2 || signo == SIGCHLD;
}

static void kernel_ask(struct row *row, int signo)
{
	const struct program *p = &row->program;

	if (p->deaf && row->state == ROW_RUNNING)
		return;
	if (row->state == ROW_RUNNING && p->ends > 0) {
		row->exit_usec = MIN(row->exit_usec, kernel.now_usec + (uint64_t)p->ends * MSEC);
		return;
	}
	if (row->state == ROW_RUNNING && p->graceful)
		kernel_end(row, false, 0);
	else
		kernel_end(row, true, signo);
}

void kernel_deliver(struct row *row, int signo, bool by_daemon)
{
	if (!row_is_alive(row) || signo == 0)
		return;
	if (by_daemon && kernel_on_signal)
		kernel_on_signal(row, signo);
	if (signo == SIGKILL) {
		row->killed_usec = by_daemon ? kernel.now_usec : row->killed_usec;
		kernel_end(row, true, SIGKILL);
	} else if (signo == SIGSTOP) {
		row->suspended = true;
	} else if (signo == SIGCONT) {
		row->suspended = false;
	} else if (!kernel_is_harmless(signo)) {
		if (by_daemon && !row->asked_usec)
			row->asked_usec = kernel.now_usec;
		kernel_ask(row, signo);
	}
}

int kernel_kill(pid_t pid, int signo)
{
	bool found = false;
	int error = signo != 0 ? kernel_fails(FAULT_KILL) : 0;

	if (signo != 0)
		run_note_change();

	for (size_t i = 0; i < kernel.n_rows; i++) {
		struct row *row = &kernel.rows[i];

		if (row->state == ROW_FREE || (pid > 0 ? row->pid != pid : row->group != -pid))
			continue;
		found = true;
		if (!error)
			kernel_deliver(row, signo, true);
		else if (!row->asked_usec && !kernel_is_harmless(signo))
			row->asked_usec = kernel.now_usec; /* all that the daemon can do */
	}
	return error ? error : found ? 0 : ESRCH;
}

/* --- steps of programs --- */

static uint64_t row_next_usec(const struct row *row)
{
	uint64_t first = MIN(row->exec_usec, row->ready_usec);
	uint64_t last = MIN(row->fork_usec, row->exit_usec);
	uint64_t daemon = MIN(row->leave_usec, row->file_usec);

	if (!row_is_alive(row) || row->suspended)
		return KERNEL_NEVER;
	first = MIN(first, last);
	return MIN(first, daemon);
}

void kernel_shorten_memory(uint64_t usec)
{
	kernel.shortage_usec = kernel.now_usec + USAGE_PRESSURE_USEC;
	kernel.shortage_until_usec = kernel.now_usec + usec;
}

static void kernel_report_shortage(void)
{
	if (kernel.now_usec < kernel.shortage_usec)
		return;
	kernel.shortages++;
	kernel.shortage_usec += USAGE_PRESSURE_USEC;
	if (kernel.shortage_usec > kernel.shortage_until_usec)
		kernel.shortage_usec = KERNEL_NEVER;
}

uint64_t kernel_next_usec(void)
{
	uint64_t next = kernel.shortage_usec;

	for (size_t i = 0; i < kernel.n_rows; i++)
		next = MIN(next, row_next_usec(&kernel.rows[i]));
	return next;
}

static uint64_t row_after(int msec)
{
	return msec == PROGRAM_NEVER ? KERNEL_NEVER : kernel.now_usec + (uint64_t)msec * MSEC;
}

static void row_exec(struct row *row)
{
	const struct program *p = &row->program;

	row->exec_usec = KERNEL_NEVER;
	if (row->exec_error) {
		kernel_end(row, false, 127);
		return;
	}
	row->state = ROW_RUNNING;
	program_begin(&row->program, row->run, row->calm);
	if (row->calm && p->role == ROLE_MAIN && *row->notify)
		row->program.ready = 1;
	row->ready_usec = row_after(p->ready);
	if (p->forks > 0)
		row->fork_usec = row_after(1);
	if (p->daemon >= 0)
		row->leave_usec = row_after(p->daemon);
	else
		row->exit_usec = row_after(p->runs);
}

static void row_fork(struct row *row)
{
	row->fork_usec = KERNEL_NEVER;
	for (int i = 0; i < row->program.forks; i++) {
		struct row *child = kernel_fork(row->pid);

		if (!child)
			return;
		child->program = row->program;
		child->program.role = ROLE_CHILD;
		child->program.forks = 0;
		child->group = row->program.leaver ? child->pid : row->group;
		child->session = row->program.leaver ? child->pid : row->session;
		memcpy(child->node, row->node, sizeof(child->node));
		memcpy(child->notify, row->notify, sizeof(child->notify));
		child->exit_usec = row_after(row->program.lasts);
	}
}

void row_leave(struct row *row)
{
	struct row *child = kernel_fork(row->pid);

	row->leave_usec = KERNEL_NEVER;
	if (!child)
		return;
	child->program = row->program;
	child->program.daemon = PROGRAM_NEVER;
	child->left = true;
	child->group = child->session = child->pid;
	memcpy(child->node, row->node, sizeof(child->node));
	memcpy(child->notify, row->notify, sizeof(child->notify));
	child->file_usec = row_after(row->program.file);
	child->exit_usec = row_after(row->program.runs);
	row->program.role = ROLE_OTHER;
	kernel_end(row, false, 0);
}

static void row_write_pid(struct row *row)
{
	char path[FILES_PATH], text[16];

	row->file_usec = KERNEL_NEVER;
	(void)snprintf(path, sizeof(path), "/run/%.*s.pid", (int)strcspn(row->node, "~"),
		       row->node);
	for (char *p = path + 5; (p = strchr(p, '/'));)
		*p = ':';
	(void)snprintf(text, sizeof(text), "%d\n", row->pid);
	files_write(path, text);
}

static void row_step(struct row *row)
{
	if (row->exec_usec <= kernel.now_usec) {
		row_exec(row);
	} else if (row->ready_usec <= kernel.now_usec) {
		row->ready_usec = KERNEL_NEVER;
		system_send_message(row->notify, "READY=1", row->pid);
	} else if (row->fork_usec <= kernel.now_usec) {
		row_fork(row);
	} else if (row->leave_usec <= kernel.now_usec) {
		row_leave(row);
	} else if (row->file_usec <= kernel.now_usec) {
		row_write_pid(row);
	} else {
		kernel_end(row, false, row->program.exits);
	}
}

void kernel_run(void)
{
	kernel_report_shortage();
	for (size_t i = 0; i < kernel.n_rows; i++)
		while (i < kernel.n_rows && row_next_usec(&kernel.rows[i]) <= kernel.now_usec)
			row_step(&kernel.rows[i]);
}
