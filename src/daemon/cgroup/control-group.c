/*
 * The group is a directory below the daemon's group, named after the node.  Looking into the group
 * and killing it also work if no descriptor is free, with the reserved one, as a stop must not fail
 * for lack of descriptors.
 */
#include "daemon/cgroup/control-group.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/macro.h"
#include "sys/process/cgroup.h"

/* The name of the directory, which lives as long as the block of the caller. */
#define NAME_OF(group) cgroups_name((char[CGROUP_NAME_MAX]){ "" }, (group)->config->path)

static const struct limit {
	const char *key, *controller, *file;
	size_t value; /* offset in struct extras; a value of 0: not set */
} limits[] = {
	{ "cgroup-memory-max", "memory", "memory.max", offsetof(struct extras, cgroup_memory_max) },
	{ "cgroup-pids-max", "pids", "pids.max", offsetof(struct extras, cgroup_pids_max) },
	{ "cgroup-cpu-weight", "cpu", "cpu.weight", offsetof(struct extras, cgroup_cpu_weight) },
};

static void control_group_on_changed(struct cgroup_watch *watch)
{
	struct control_group *g = container_of(watch, struct control_group, watch);

	g->on_change(g);
}

static void control_group_on_thaw(struct cgroup_watch *watch)
{
	const struct control_group *g = container_of(watch, struct control_group, watch);

	if (g->exists)
		(void)cgroup_write(g->ctx->cgroups->top, NAME_OF(g), "cgroup.freeze", "0");
}

void control_group_init(struct control_group *g, struct context *ctx,
			const struct node_config *config,
			void (*on_change)(struct control_group *group))
{
	*g = (struct control_group){
		.ctx = ctx,
		.config = config,
		.watch = { .changed = control_group_on_changed, .thaw_now = control_group_on_thaw },
		.on_change = on_change,
	};
	list_init(&g->watch.in_watches);
}

void control_group_done(struct control_group *g)
{
	if (!control_group_remove(g))
		cgroups_unwatch(g->ctx->cgroups, &g->watch);
}

static uint64_t control_group_limit_value(const struct limit *limit,
					  const struct node_config *config)
{
	return *(const uint64_t *)(const void *)((const char *)node_config_extras(config) +
						 limit->value);
}

static void control_group_check_limit(const struct control_group *g, const struct limit *limit)
{
	struct cgroups *cgroups = g->ctx->cgroups;
	const char *path = g->config->path;
	int r;

	if (!cgroups) {
		log_node(g->ctx->log, LOG_WARNING, path,
			 "%s has no effect: swansongd has no control groups", limit->key);
		return;
	}
	r = cgroups_enable(cgroups, limit->controller);
	if (r == -ENOENT)
		log_node(g->ctx->log, LOG_WARNING, path,
			 "%s has no effect: this control group has no controller %s", limit->key,
			 limit->controller);
	else if (r < 0)
		log_node(g->ctx->log, LOG_WARNING, path,
			 "%s has no effect: the controller %s cannot be used: %s%s", limit->key,
			 limit->controller, strerror(-r),
			 r == -EBUSY ? "; other processes are in the control group of swansongd"
				     : "");
}

void control_group_check(struct control_group *g)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (control_group_limit_value(&limits[i], g->config) != 0)
			control_group_check_limit(g, &limits[i]);
}

static void control_group_set_limits(const struct control_group *g, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct limit *limit = &limits[i];
		uint64_t value = control_group_limit_value(limit, g->config);
		char text[24] = "max";
		int r;

		if (value == 0)
			continue;
		if (value != UINT64_MAX)
			(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
		r = cgroup_write(g->ctx->cgroups->top, name, limit->file, text);
		/* A missing controller has been reported by control_group_check_limit(). */
		if (r < 0 && r != -ENOENT)
			log_node(g->ctx->log, LOG_WARNING, g->config->path, "cannot set %s: %s",
				 limit->key, strerror(-r));
	}
}

void control_group_found(struct control_group *g)
{
	g->exists = true;
}

void control_group_forget(struct control_group *g)
{
	g->refused = true;
	g->exists = false;
}

void control_group_refused(struct control_group *g, int error)
{
	struct cgroups *cgroups = g->ctx->cgroups;

	if (!cgroups->refused)
		log_node(g->ctx->log, LOG_WARNING, g->config->path,
			 "no control group: %s; later services may have none either",
			 strerror(error));
	cgroups->refused = true;
	cgroups_unwatch(cgroups, &g->watch);
	(void)cgroup_remove(cgroups->top, NAME_OF(g));
	control_group_forget(g);
}

int control_group_open(struct control_group *g)
{
	struct cgroups *cgroups = g->ctx->cgroups;
	char name[CGROUP_NAME_MAX];
	int r = 0, fd;

	if (!cgroups || g->refused)
		return -1;
	cgroups_unwatch(cgroups, &g->watch);
	cgroups_name(name, g->config->path);
	/* Linux kills processes that start in a killed group, so it must be made anew. */
	if (g->spent && !control_group_remove(g))
		return -1; /* a process remains */
	if (!g->exists) {
		r = cgroup_make(cgroups->top, name);
		if (r == 0)
			control_group_set_limits(g, name);
	}
	fd = r < 0 ? r : cgroup_open_below(cgroups->top, name);
	if (fd < 0) {
		control_group_refused(g, -fd);
		return -1;
	}
	g->exists = true;
	return fd;
}

bool control_group_is_populated(const struct control_group *g)
{
	int r;

	if (!g->exists)
		return false;
	r = cgroups_is_populated(g->ctx->cgroups, NAME_OF(g));
	/*
	 * Unknown counts as populated, except for a lack of descriptors, which could last for ever.
	 */
	return r > 0 || (r < 0 && r != -EMFILE);
}

void control_group_watch(struct control_group *g, void (*each)(pid_t pid, void *arg), void *arg)
{
	if (!g->exists)
		return;
	(void)cgroup_processes(g->ctx->cgroups->top, NAME_OF(g), each, arg);
	/* Without a watch the timeout of the state finds out. */
	(void)cgroups_watch(g->ctx->cgroups, NAME_OF(g), &g->watch);
}

void control_group_signal(const struct control_group *g, int signo)
{
	if (g->exists)
		cgroups_signal(g->ctx->cgroups, NAME_OF(g), signo);
}

void control_group_thaw_soon(struct control_group *g)
{
	if (g->exists)
		cgroups_thaw_soon(g->ctx->cgroups, &g->watch);
}

void control_group_kill(struct control_group *g)
{
	if (!g->exists)
		return;
	g->spent = true;
	(void)cgroups_kill(g->ctx->cgroups, NAME_OF(g));
}

bool control_group_remove(struct control_group *g)
{
	if (!g->exists && !g->spent)
		return true;
	if (cgroup_remove(g->ctx->cgroups->top, NAME_OF(g)) < 0)
		return false;
	cgroups_unwatch(g->ctx->cgroups, &g->watch);
	g->exists = g->spent = false;
	return true;
}
