/*
 * Only a period of USAGE_PRESSURE_USEC with the share of the limit has an event.  The share since the first of these
 * periods, each of which is close to the one before, comes from the total that the kernel keeps.
 */
#include "daemon/node/pressure.h"

#include <sys/epoll.h>

#include "daemon/cgroup/delegation.h"
#include "sys/process/usage.h"

static uint64_t pressure_share(const struct pressure *p, uint64_t usec)
{
	return usec * p->limit.percent / 100;
}

static void pressure_measure(struct pressure_file *file, uint64_t now, uint64_t total)
{
	struct pressure *p = file->pressure;
	uint64_t usec;

	/* The period that ends now had that share. */
	if (file->seen_usec + 2 * USAGE_PRESSURE_USEC < now) {
		file->begun_usec = now - USAGE_PRESSURE_USEC;
		file->begun_total = total - pressure_share(p, USAGE_PRESSURE_USEC);
	}
	file->seen_usec = now;
	usec = now - file->begun_usec;
	if (usec < p->limit.window_usec)
		return;
	if (total - file->begun_total >= pressure_share(p, usec))
		p->percent = (int)((total - file->begun_total) * 100 / usec);
	file->begun_usec = now;
	file->begun_total = total;
}

static int pressure_on_event(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct pressure_file *file = arg;
	struct pressure *p = file->pressure;
	uint64_t now = clock_now_usec(), total;

	if (usage_read_pressure(fd, &total) < 0) {
		file->source = sd_event_source_disable_unref(file->source);
		return 0;
	}
	pressure_measure(file, now, total);
	alarm_set(&p->node->ctx->alarms, &p->calm, now + p->limit.window_usec + USAGE_PRESSURE_USEC);
	if (p->percent > 0)
		node_add_task(p->node, TASK_PRESSURES);
	return 0;
}

static void pressure_on_calm(struct alarm *alarm)
{
	struct pressure *p = container_of(alarm, struct pressure, calm);

	p->over = true;
	node_add_task(p->node, TASK_PRESSURES);
}

static int pressure_watch(struct pressure_file *file, struct pressure *p, int dir, const char *path)
{
	int r = usage_watch_pressure(dir, path, pressure_share(p, USAGE_PRESSURE_USEC));

	file->pressure = p;
	return context_watch_owned(p->node->ctx, &file->source, r, EPOLLPRI, pressure_on_event, file);
}

static int pressure_new(struct node *node, const struct pressure_limit *limit)
{
	struct context *ctx = node->ctx;
	struct pressure *p = calloc(1, sizeof(*p));
	int r, own = -ENOENT;

	if (!p)
		return -ENOMEM;
	p->node = node;
	p->limit = *limit;
	alarm_init(&p->calm, pressure_on_calm);
	node->pressure = p;
	r = pressure_watch(&p->files[0], p, AT_FDCWD, "/proc/pressure/memory");
	if (ctx->cgroups)
		own = pressure_watch(&p->files[1], p, ctx->cgroups->own, "memory.pressure");
	/* The former image may have stopped services. */
	alarm_set(&ctx->alarms, &p->calm, clock_add(clock_now_usec(), limit->window_usec));
	return own < 0 && r < 0 ? r : 0;
}

void pressure_use(struct node *node)
{
	const struct pressure_limit *limit = &node_config_extras(node->config)->pressure_stop;
	int r;

	if (node->pressure && memcmp(&node->pressure->limit, limit, sizeof(*limit)) == 0)
		return;
	pressure_free(node);
	if (limit->window_usec == 0)
		return;
	r = pressure_new(node, limit);
	if (r < 0)
		node_log(node, LOG_WARNING, "pressure-stop has no effect: /proc/pressure/memory: %s",
			 strerror(-r));
}

void pressure_free(struct node *node)
{
	struct pressure *p = node->pressure;

	if (!p)
		return;
	alarm_stop(&node->ctx->alarms, &p->calm);
	for (size_t i = 0; i < ARRAY_SIZE(p->files); i++)
		sd_event_source_disable_unref(p->files[i].source);
	node->pressure = free_memory(p);
}
