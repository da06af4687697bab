/*
 * The group is a directory below the daemon's group, named after the node.  Looking into the group
 * and killing it also work if no descriptor is free, with the reserved one, as a stop must not fail
 * for lack of descriptors.
 */
#include "daemon/cgroup/control-group.h"

#include "sys/process/cgroup.h"

/* The name of the directory, which lives as long as the block of the caller. */
#define NAME_OF(group)                              \
	cgroups_name((char[CGROUP_NAME_MAX]){ "" }, \
		     control_group_claim(group, (char[CONFIG_NAME_MAX + 1]){ "" }))

static const struct limit {
	const char *key, *controller, *file;
	const char *unset; /* in a new group */
	size_t value;	   /* offset in struct extras; a value of 0: not set */
} limits[] = {
#define LIMIT(key, controller, file, unset, member)                                              \
	{                                                                                        \
		"cgroup-" key, controller, file, unset, offsetof(struct extras, cgroup_##member) \
	}
	LIMIT("memory-max", "memory", "memory.max", "max", memory_max),
	LIMIT("memory-high", "memory", "memory.high", "max", memory_high),
	LIMIT("pids-max", "pids", "pids.max", "max", pids_max),
	LIMIT("cpu-weight", "cpu", "cpu.weight", "100", cpu_weight),
	LIMIT("io-weight", "io", "io.weight", "100", io_weight),
};

static void control_group_on_thaw(struct cgroup_watch *watch)
{
	const struct control_group *g = container_of(watch, struct control_group, watch);

	if (g->exists)
		(void)cgroup_write(g->ctx->cgroups->top, NAME_OF(g), "cgroup.freeze", "0");
}

void control_group_init(struct control_group *g, struct context *ctx,
			const struct node_config *config,
			void (*on_change)(struct cgroup_watch *watch))
{
	*g = (struct control_group){ .ctx = ctx, .config = config };
	list_init(&g->watch.in_watches);
	if (!ctx->cgroups)
		return;
	ctx->cgroups->changed = on_change;
	ctx->cgroups->thaw_now = control_group_on_thaw;
}

char *control_group_claim(const struct control_group *g, char buf[static CONFIG_NAME_MAX + 1])
{
	int n = snprintf(buf, CONFIG_NAME_MAX + 1, "%s", g->config->path);

	if (g->generation)
		(void)snprintf(buf + n, (size_t)(CONFIG_NAME_MAX + 1 - n), "~%u", g->generation);
	return buf;
}

void control_group_number(struct control_group *g, unsigned generation)
{
	if (g->generation != generation && control_group_remove(g))
		g->generation = generation;
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

int control_group_memory(const struct control_group *g, uint64_t *ret)
{
	char text[4096] = "";
	uint64_t idle = 0;
	const char *line;

	if (!g->exists ||
	    cgroup_read(g->ctx->cgroups->top, NAME_OF(g), "memory.current", text, sizeof(text)) <
		    0 ||
	    sscanf(text, "%" SCNu64, ret) != 1)
		return -ENOENT;
	if (cgroup_read(g->ctx->cgroups->top, NAME_OF(g), "memory.stat", text, sizeof(text)) == 0 &&
	    (line = strstr(text, "\ninactive_file ")))
		(void)sscanf(line, " inactive_file %" SCNu64, &idle);
	*ret -= MIN(idle, *ret);
	return 0;
}

/* Sets the limits that differ from those of @before; NULL: of a new group. */
static void control_group_set_limits(const struct control_group *g,
				     const struct node_config *before)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct limit *limit = &limits[i];
		uint64_t value = control_group_limit_value(limit, g->config);
		char text[24] = "max";
		int r;

		if (value == (before ? control_group_limit_value(limit, before) : 0))
			continue;
		if (value != UINT64_MAX)
			(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
		r = cgroup_write(g->ctx->cgroups->top, NAME_OF(g), limit->file,
				 value ? text : limit->unset);
		/* A missing controller has been reported by control_group_check_limit(). */
		if (r < 0 && r != -ENOENT)
			log_node(g->ctx->log, LOG_WARNING, g->config->path, "cannot set %s: %s",
				 limit->key, strerror(-r));
	}
}

void control_group_use(struct control_group *g, const struct node_config *config)
{
	const struct node_config *before = g->config;

	g->config = config;
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (control_group_limit_value(&limits[i], config) != 0)
			control_group_check_limit(g, &limits[i]);
	if (g->ctx->cgroups && node_config_extras(config)->recycle_memory)
		(void)cgroups_enable(g->ctx->cgroups, "memory");
	if (g->exists)
		control_group_set_limits(g, before);
}

void control_group_each(const struct control_group *g, void (*each)(pid_t pid, void *arg),
			void *arg)
{
	if (g->exists)
		(void)cgroup_processes(g->ctx->cgroups->top, NAME_OF(g), each, arg);
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
	const char *name = NAME_OF(g);
	int r = 0, fd;

	if (!cgroups || g->refused)
		return -1;
	cgroups_unwatch(cgroups, &g->watch);
	/* Linux kills processes that start in a killed group, so it must be made anew. */
	if (g->spent && !control_group_remove(g))
		return -1; /* a process remains */
	if (!g->exists) {
		r = cgroup_make(cgroups->top, name);
		if (r == 0)
			control_group_set_limits(g, NULL);
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
	/* An error counts as populated, except a lack of descriptors, which could last for ever. */
	return r > 0 || (r < 0 && r != -EMFILE);
}

void control_group_watch(struct control_group *g, void (*each)(pid_t pid, void *arg), void *arg)
{
	if (!g->exists)
		return;
	control_group_each(g, each, arg);
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
