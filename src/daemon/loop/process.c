/*
 * A hash table of pids.  A process is entered when it is started or found, and removed when it is
 * collected; a collected main process stays findable as leader of its session or process group.
 */
#include "daemon/loop/process.h"

void process_table_init(struct process_table *table)
{
	for (size_t i = 0; i < ARRAY_SIZE(table->buckets); i++)
		list_init(&table->buckets[i]);
}

void process_table_done(struct process_table *table)
{
	struct process *process;

	for (size_t i = 0; i < ARRAY_SIZE(table->buckets); i++)
		list_for_each_taken (process, &table->buckets[i], by_pid)
			process_free(process);
}

void process_recheck_unowned(struct process_table *table)
{
	struct process *process;

	for (size_t i = 0; i < ARRAY_SIZE(table->buckets); i++)
		list_for_each (process, &table->buckets[i], by_pid)
			process->blank |= process->kind == PROCESS_UNOWNED;
}

const struct process *process_find_kind(const struct process_table *table, enum process_kind kind)
{
	const struct process *process;

	for (size_t i = 0; i < ARRAY_SIZE(table->buckets); i++)
		list_for_each (process, &table->buckets[i], by_pid)
			if (process->kind == kind)
				return process;
	return NULL;
}

void process_init(struct process *process, enum process_kind kind, struct service *service)
{
	*process = (struct process){
		.kind = kind,
		.service = service,
		.pidfd = -1,
	};
	list_init(&process->by_pid);
	list_init(&process->by_service);
}

int process_new(struct process **ret, enum process_kind kind, struct service *service)
{
	struct process *process = malloc(sizeof(*process));

	if (!process)
		return -ENOMEM;
	process_init(process, kind, service);
	*ret = process;
	return 0;
}

void process_add(struct process_table *table, struct process *process, pid_t pid, int pidfd)
{
	process->pid = pid;
	process->pidfd = pidfd;
	process->alive = true;
	process->signalled_usec = 0;
	process->killed = process->kept = false;
	process->until_usec = 0;
	process->since_usec = clock_now_usec();
	list_append(&table->buckets[(size_t)pid % ARRAY_SIZE(table->buckets)], &process->by_pid);
}

void process_name(struct process *process, const char *argv0)
{
	const char *slash = strrchr(argv0, '/');

	memset(process->name, 0, sizeof(process->name));
	strncpy(process->name, slash && slash[1] ? slash + 1 : argv0, sizeof(process->name) - 1);
}

void process_forget(struct process *process)
{
	struct swansong_guard guard = process->guard;

	process->guard = (struct swansong_guard){ .node = NULL };
	process_remove(process);
	process->guard = guard;
}

void process_remove(struct process *process)
{
	spawn_abandon(&process->spawning);
	process->gone = sd_event_source_disable_unref(process->gone);
	process->pidfd = fd_close(process->pidfd);
	process->alive = false;
	process->pid = 0;
	process->until_usec = 0;
	list_remove(&process->by_pid);
	list_remove(&process->by_service);
	swansong_guard_drop(&process->guard);
}

struct process *process_free(struct process *process)
{
	if (!process)
		return NULL;
	process_remove(process);
	return free_memory(process);
}

static const struct list *process_bucket_of(const struct process_table *table, pid_t pid)
{
	return &table->buckets[(size_t)pid % ARRAY_SIZE(table->buckets)];
}

struct process *process_find(const struct process_table *table, pid_t pid)
{
	struct process *process;

	list_for_each (process, process_bucket_of(table, pid), by_pid)
		if (process->pid == pid && process->alive)
			return process;
	return NULL;
}

struct process *process_find_leader(const struct process_table *table, pid_t number)
{
	struct process *process = process_find(table, number);

	if (process)
		return process;
	list_for_each (process, process_bucket_of(table, number), by_pid)
		if (process->pid == number)
			return process;
	return NULL;
}

int process_signal(const struct process *process, int signo)
{
	if (process->pidfd >= 0)
		return syscall(SYS_pidfd_send_signal, process->pidfd, signo, NULL, 0) < 0 ? -errno
											  : 0;
	/* A child keeps its pid until it is collected, so no descriptor is needed. */
	if (!process->alive)
		return -ESRCH;
	return kill(process->pid, signo) < 0 ? -errno : 0;
}

void process_signal_session(const struct process *process, int signo)
{
	if (process->alive && kill(-process->pid, signo) < 0)
		(void)kill(process->pid, signo); /* it has not made its session yet */
}
