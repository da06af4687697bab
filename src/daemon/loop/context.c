/*
 * The context is made once, at the start, and passed to all rooms.  It holds memory and descriptors
 * in reserve, so that starts and stops do not fail when these run out later.
 */
#include "daemon/loop/context.h"

/* libsystemd dispatches so many events before it asks for further ones. */
#define EVENTS_AT_ONCE 64

/* Limits the time of remaining processes after the stop signal. */
#define REMAINING_TIMEOUT_USEC (10 * USEC_PER_SEC)

int context_init(struct context *ctx, struct log *log, const struct signals *signals)
{
	int r;

	*ctx = (struct context){
		.log = log,
		.signals = signals,
		.leftover_timeout_usec = REMAINING_TIMEOUT_USEC,
		.keeper = { .reaper = getpid() },
		.grace_usec = USEC_INFINITY,
		.bound_usec = USEC_INFINITY,
		.descriptors = { .null = -1, .spare = -1 },
	};
	traces_init(&ctx->traces);
	agenda_init(&ctx->agenda);
	list_init(&ctx->listeners);
	list_init(&ctx->guards.users);
	list_init(&ctx->guards.descriptors);
	list_init(&ctx->guards.programs);
	list_init(&ctx->timetables.list);
	list_init(&ctx->discards);
	ctx->disabled_copy.fd = -1;

	ctx->descriptors.null = fd_open_null();
	if (ctx->descriptors.null < 0)
		return -errno;
	context_take_spare(ctx);
	if (ctx->descriptors.spare < 0)
		return -errno;
	ctx->forced_kills = calloc(1, sizeof(*ctx->forced_kills));
	r = ctx->forced_kills ? events_new(&ctx->events) : -ENOMEM;
	if (r >= 0)
		r = sd_event_new(&ctx->event);
	return r < 0 ? r : alarms_init(&ctx->alarms, ctx->event, &ctx->agenda, log);
}

void context_done(struct context *ctx)
{
	alarms_done(&ctx->alarms);
	ctx->event = sd_event_unref(ctx->event);
	ctx->events = events_free(ctx->events);
	free(take(ctx->forced_kills));
	free(take(ctx->refused));
	traces_done(&ctx->traces);
	disabled_done(&ctx->disabled);
	ctx->disabled_copy.fd = fd_close(ctx->disabled_copy.fd);
	stamps_done(&ctx->stamps);
	free(take(ctx->environment.child));
	free(take(ctx->environment.mark));
	ctx->descriptors.null = fd_close(ctx->descriptors.null);
	ctx->descriptors.spare = fd_close(ctx->descriptors.spare);
}

static int context_on_nothing(sd_event_source *source, void *arg)
{
	return 0;
}

int context_rehearse_events(struct context *ctx)
{
	sd_event_source *sources[EVENTS_AT_ONCE] = { NULL };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sources) && r >= 0; i++)
		r = sd_event_add_defer(ctx->event, &sources[i], context_on_nothing, NULL);
	/* With the highest priority this source is dispatched, and no other source. */
	if (r >= 0)
		r = sd_event_source_set_priority(sources[0], INT64_MIN);
	if (r >= 0)
		r = sd_event_run(ctx->event, 0);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		sd_event_source_disable_unref(sources[i]);
	return r < 0 ? r : 0;
}

int context_watch_owned(struct context *ctx, sd_event_source **ret, int fd, uint32_t events,
			sd_event_io_handler_t fn, void *arg)
{
	cleanup(closep) int owned = fd;
	cleanup(sd_event_source_unrefp) sd_event_source *source = NULL;
	int r = fd < 0 ? fd : sd_event_add_io(ctx->event, &source, fd, events, fn, arg);

	if (r >= 0)
		r = sd_event_source_set_io_fd_own(source, true);
	if (r < 0)
		return r;
	(void)take_fd(owned);
	*ret = take(source);
	return 0;
}

bool context_give_up_spare(struct context *ctx)
{
	bool had = ctx->descriptors.spare >= 0;

	ctx->descriptors.spare = fd_close(ctx->descriptors.spare);
	return had;
}

void context_take_spare(struct context *ctx)
{
	ctx->descriptors.spare = fd_open_null();
}

bool context_is_shortage(int r)
{
	return r == -EMFILE || r == -ENFILE || r == -ENOMEM;
}

int context_reserve_environment(struct context *ctx, size_t own)
{
	size_t need = own;
	char **envp;

	for (char **v = ctx->environment.given; *v; v++)
		need++;
	if (ctx->environment.child && need <= ctx->environment.room)
		return 0;
	envp = realloc(ctx->environment.child, (need + 1) * sizeof(*envp));
	if (!envp)
		return -ENOMEM;
	ctx->environment.child = envp;
	ctx->environment.room = need;
	return 0;
}

void context_scan_orphans(struct context *ctx)
{
	ctx->scan_orphans = true;
	agenda_note(&ctx->agenda, TASK_EXITS);
}

void context_update_soon(struct context *ctx)
{
	agenda_note(&ctx->agenda, TASK_EVENTS); /* the first: later ones may be past */
}
