#include "daemon/context.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "sys/spawn.h"

/* What is left when the main process is gone has this long after the stop signal, at most. */
#define LEFTOVER_TIMEOUT_USEC (10 * USEC_PER_SEC)

int context_init(struct context *ctx, struct log *log, const struct signals *signals)
{
	int r;

	*ctx = (struct context){
		.log = log,
		.signals = signals,
		.leftover_timeout_usec = LEFTOVER_TIMEOUT_USEC,
		.grace_usec = USEC_INFINITY,
		.null_fd = -1,
		.spare_fd = -1,
		.share_descriptors = spawn_can_share(),
	};
	traces_init(&ctx->traces);
	list_init(&ctx->posted);
	list_init(&ctx->lingering);
	list_init(&ctx->waiting);
	list_init(&ctx->gated);
	list_init(&ctx->completed);
	list_init(&ctx->finished);
	list_init(&ctx->fallen);
	list_init(&ctx->guarded);
	list_init(&ctx->listeners);
	list_init(&ctx->lease_users);
	list_init(&ctx->lease_fds);
	list_init(&ctx->attached);

	ctx->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (ctx->null_fd < 0)
		return -errno;
	context_take_spare(ctx);
	if (ctx->spare_fd < 0)
		return -errno;
	r = events_new(&ctx->events);
	if (r >= 0)
		r = losses_new(&ctx->losses);
	if (r < 0)
		return r;
	r = sd_event_new(&ctx->event);
	return r < 0 ? r : alarms_init(&ctx->alarms, ctx->event, log);
}

void context_done(struct context *ctx)
{
	alarms_done(&ctx->alarms);
	ctx->event = sd_event_unref(ctx->event);
	ctx->events = events_free(ctx->events);
	ctx->losses = losses_free(ctx->losses);
	traces_done(&ctx->traces);
	free(ctx->envp);
	ctx->envp = NULL;
	ctx->null_fd = fd_close(ctx->null_fd);
	ctx->spare_fd = fd_close(ctx->spare_fd);
}

bool context_give_up_spare(struct context *ctx)
{
	bool had = ctx->spare_fd >= 0;

	ctx->spare_fd = fd_close(ctx->spare_fd);
	return had;
}

void context_take_spare(struct context *ctx)
{
	ctx->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool context_is_shortage(int r)
{
	return r == -EMFILE || r == -ENFILE || r == -ENOMEM;
}

int context_reserve_environment(struct context *ctx, size_t own)
{
	size_t need = own;
	char **envp;

	for (char **v = ctx->environment; *v; v++)
		need++;
	if (ctx->envp && need <= ctx->envp_room)
		return 0;
	envp = realloc(ctx->envp, (need + 1) * sizeof(*envp));
	if (!envp)
		return -ENOMEM;
	ctx->envp = envp;
	ctx->envp_room = need;
	return 0;
}

void context_settle_soon(struct context *ctx)
{
	ctx->settle = true;
}

void context_arm(struct context *ctx, sd_event_source *timer, uint64_t usec)
{
	int r;

	if (usec == USEC_INFINITY) {
		(void)sd_event_source_set_enabled(timer, SD_EVENT_OFF);
		return;
	}
	r = sd_event_source_set_time(timer, usec);
	if (r >= 0)
		r = sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
	if (r < 0)
		log_line(ctx->log, LOG_ERR, "cannot arm a timer: %s", strerror(-r));
}
