/*
 * The kind of a check is a table of two functions, begin and end.  The timer of the timeout also
 * reports results, so that they always come from the event loop.
 */
#include "daemon/probe/probe.h"

#include "daemon/probe/attempt.h"

DEFINE_CLEANUP(struct probe *, probe_free)

static void probe_on_timer(struct alarm *alarm)
{
	struct probe *probe = container_of(alarm, struct probe, timer);

	if (!probe->ended) {
		probe->ops->end(probe);
		(void)snprintf(probe->why, sizeof(probe->why), "no answer in time%s%s",
			       *probe->line ? ": " : "", probe->line);
	}
	probe->running = false;
	probe->on_result(probe->arg, *probe->why ? probe->why : NULL);
}

static const struct probe_kind_ops *const ops_of_kinds[PROBE_LOG + 1] = {
	[PROBE_TCP] = &probe_connect_ops,
	[PROBE_UNIX] = &probe_connect_ops,
	[PROBE_HTTP] = &probe_http_ops,
	[PROBE_EXEC] = &probe_exec_ops,
};

int probe_new(struct probe **ret, struct context *ctx, const struct probe_config *config,
	      const struct launch *launch, void (*on_result)(void *arg, const char *why), void *arg)
{
	cleanup(probe_freep) struct probe *probe = calloc(1, sizeof(*probe));
	int r;

	if (!probe)
		return -ENOMEM;
	*probe = (struct probe){
		.ctx = ctx,
		.config = config,
		.launch = launch,
		.ops = ops_of_kinds[config->kind],
		.on_result = on_result,
		.arg = arg,
		.fd = -1,
	};
	process_init(&probe->process, PROCESS_PROBE, NULL);
	alarm_init(&probe->timer, probe_on_timer);
	if (!probe->ops)
		return -EINVAL;
	if (config->kind == PROBE_HTTP) {
		r = http_request(config->text, &probe->request, &probe->request_length);
		if (r < 0)
			return r;
	}
	*ret = take(probe);
	return 0;
}

struct probe *probe_free(struct probe *probe)
{
	if (!probe)
		return NULL;
	probe_cancel(probe);
	process_remove(&probe->process);
	free(probe->request);
	return free_memory(probe);
}

void probe_begin(struct probe *probe, const struct process *main, uint64_t timeout_usec)
{
	probe_cancel(probe);
	probe->running = true;
	probe->ended = false;
	alarm_set(&probe->ctx->alarms, &probe->timer, clock_add(clock_now_usec(), timeout_usec));
	probe->ops->begin(probe, main);
}

void probe_cancel(struct probe *probe)
{
	if (!probe->running)
		return;
	if (!probe->ended)
		probe->ops->end(probe);
	probe->running = false;
	alarm_stop(&probe->ctx->alarms, &probe->timer);
}
