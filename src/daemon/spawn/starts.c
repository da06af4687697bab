/*
 * The pipes are in an epoll set of their own, which is one source of the event loop: to enter a pipe
 * there costs one call and no memory.  The kernel keeps an entry for as long as another child that
 * has just been made has a copy of the descriptor.  So an entry has the pid, not an address, and is
 * good for one event.
 */
#include "daemon/spawn/starts.h"

#include <sys/epoll.h>

#include "daemon/writer/program.h"

#define EVENTS_AT_ONCE 32

#define ROOM	  64
#define WAIT_USEC (5 * USEC_PER_MSEC)

struct starts {
	struct context *ctx;
	struct spawn_pool pool;
	unsigned room; /* so many starts at a time */
	bool full;     /* starts wait until half of ROOM is free: a turn costs more than a start */
	unsigned ended, seen; /* number of starts that are over; and when the wait for room began */
	struct alarm wait;
	int set; /* of @source */
	sd_event_source *source;
	starts_fn *fn;
	void *arg;
	struct helper_program sandbox;
};

DEFINE_CLEANUP(struct starts *, starts_free)

static int starts_watch(const struct starts *starts, int operation, struct process *process)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT,
				     .data.u64 = (uint64_t)process->pid };

	return epoll_ctl(starts->set, operation, process->spawning.fd, &event) < 0 ? -errno : 0;
}

static void starts_on_news(struct starts *starts, pid_t pid)
{
	struct process *process = process_find(starts->ctx->processes, pid);
	struct spawn_failure why;
	int refused, r;

	if (!process || !process->spawning.block)
		return;
	r = spawn_check(&process->spawning, &starts->pool, &why, &refused);
	if (r == SPAWN_E_PENDING) {
		(void)starts_watch(starts, EPOLL_CTL_MOD, process);
		return;
	}
	starts->ended++;
	starts->fn(process, &why, refused, starts->arg);
}

static void starts_on_wait(struct alarm *alarm)
{
	struct starts *starts = container_of(alarm, struct starts, wait);

	if (starts->seen == starts->ended)
		starts->room = starts->pool.used + ROOM;
}

bool starts_have_room(struct starts *starts)
{
	if (!starts)
		return true;
	starts->room = starts->pool.used < ROOM ? ROOM : starts->room;
	starts->full = starts->pool.used >= starts->room - (starts->full ? ROOM / 2 : 0);
	starts->pool.kept = starts->full ? ROOM : 0;
	if (!starts->full)
		return true;
	if (starts->wait.usec == USEC_INFINITY) {
		starts->seen = starts->ended;
		alarm_set(&starts->ctx->alarms, &starts->wait,
			  clock_add(clock_now_usec(), WAIT_USEC));
	}
	return false;
}

static int starts_on_event(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct epoll_event ready[EVENTS_AT_ONCE];
	int n = epoll_wait(fd, ready, EVENTS_AT_ONCE, 0);

	for (int i = 0; i < n; i++)
		starts_on_news(arg, (pid_t)ready[i].data.u64);
	return 0;
}

int starts_new(struct starts **ret, struct context *ctx, starts_fn *fn, void *arg)
{
	cleanup(starts_freep) struct starts *starts = calloc(1, sizeof(*starts));
	int r;

	if (!starts)
		return -ENOMEM;
	*starts = (struct starts){ .ctx = ctx, .fn = fn, .arg = arg };
	alarm_init(&starts->wait, starts_on_wait);
	starts->pool.siblings = keeper_is_apart(&ctx->keeper);
	starts->set = epoll_create1(EPOLL_CLOEXEC);
	r = context_watch_owned(ctx, &starts->source, starts->set < 0 ? -errno : starts->set,
				EPOLLIN, starts_on_event, starts);
	/* A program sends messages after its start, so the start is processed first. */
	if (r >= 0)
		r = sd_event_source_set_priority(starts->source, SD_EVENT_PRIORITY_IMPORTANT);
	if (r < 0)
		return r;
	helper_program_init(&starts->sandbox, ctx, HELPER_SANDBOX);
	ctx->sandbox = &starts->sandbox;
	*ret = ctx->starts = take(starts);
	return 0;
}

struct starts *starts_free(struct starts *starts)
{
	if (!starts)
		return NULL;
	starts->ctx->starts = NULL;
	if (starts->ctx->sandbox)
		helper_program_done(starts->ctx->sandbox);
	starts->ctx->sandbox = NULL;
	alarm_stop(&starts->ctx->alarms, &starts->wait);
	sd_event_source_disable_unref(starts->source);
	spawn_pool_done(&starts->pool);
	return free_memory(starts);
}

int starts_begin(struct starts *starts, const struct spawn_spec *spec, struct process *process,
		 int *refused)
{
	int r = spawn_begin(spec, &starts->pool, &process->spawning, refused);

	if (r < 0)
		return r;
	process_add(starts->ctx->processes, process, process->spawning.pid, -1);
	process->group = process->pid;
	process->id = ++starts->ctx->last_id;
	process_name(process, spec->argv[0]);
	starts->ctx->launched++;
	/* Without a pipe, the program is taken to run; a failure is noticed at its end. */
	if (starts_watch(starts, EPOLL_CTL_ADD, process) < 0)
		process->spawning.fd = fd_close(process->spawning.fd);
	if (process->spawning.fd < 0)
		starts->fn(process, &(struct spawn_failure){ 0 }, 0, starts->arg);
	return 0;
}

/* A child that was killed before its program ran has written nothing: /proc shows whether it ran. */
bool starts_end(struct starts *starts, struct process *process)
{
	struct spawn_failure why;
	bool watched = process->spawning.fd >= 0;
	struct proc_info info;
	int refused, r;

	if (!process->spawning.block)
		return false;
	spawn_note_death(&process->spawning);
	r = spawn_check(&process->spawning, &starts->pool, &why, &refused);
	if (r == SPAWN_E_CHILD ||
	    (r == 0 && watched && proc_read(process->pid, &info) == 0 && info.executed))
		starts->fn(process, &why, refused, starts->arg);
	return r == SPAWN_E_CHILD;
}
