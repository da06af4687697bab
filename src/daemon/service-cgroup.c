#include "daemon/service-cgroup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/service.h"
#include "sys/cgroup.h"

/* The keys that say something of the group, and where the kernel has that. */
struct limit {
	const char *key, *controller, *file;
	uint64_t (*value)(const struct node_config *config); /* 0: not set */
};

static uint64_t memory_max(const struct node_config *config)
{
	return node_config_extras(config)->cgroup_memory_max;
}

static uint64_t pids_max(const struct node_config *config)
{
	return node_config_extras(config)->cgroup_pids_max;
}

static uint64_t cpu_weight(const struct node_config *config)
{
	return node_config_extras(config)->cgroup_cpu_weight;
}

static const struct limit limits[] = {
	{ "cgroup-memory-max", "memory", "memory.max", memory_max },
	{ "cgroup-pids-max", "pids", "pids.max", pids_max },
	{ "cgroup-cpu-weight", "cpu", "cpu.weight", cpu_weight },
};

static void check_limit(const struct service *s, const struct limit *limit)
{
	struct cgroups *cgroups = s->ctx->cgroups;
	const char *path = s->config->path;
	int r;

	if (!cgroups) {
		log_line(s->ctx->log, LOG_WARNING,
			 "%s: %s has no effect: there are no control groups to set it in", path,
			 limit->key);
		return;
	}
	r = cgroups_enable(cgroups, limit->controller);
	if (r == -ENOENT)
		log_line(s->ctx->log, LOG_WARNING,
			 "%s: %s has no effect: this control group has no controller %s", path,
			 limit->key, limit->controller);
	else if (r < 0)
		log_line(s->ctx->log, LOG_WARNING,
			 "%s: %s has no effect: the controller %s cannot be used: %s%s", path,
			 limit->key, limit->controller, strerror(-r),
			 r == -EBUSY ? "; other processes are in our control group" : "");
}

void service_cgroup_check(struct service *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (limits[i].value(s->config) != 0)
			check_limit(s, &limits[i]);
}

static void set_limits(const struct service *s, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct limit *limit = &limits[i];
		uint64_t value = limit->value(s->config);
		char text[24] = "max";
		int r;

		if (value == 0)
			continue;
		if (value != UINT64_MAX)
			(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
		r = cgroup_write(s->ctx->cgroups->top, name, limit->file, text);
		/* That the controller is missing has been said. */
		if (r < 0 && r != -ENOENT)
			log_line(s->ctx->log, LOG_WARNING, "%s: cannot set %s: %s", s->config->path,
				 limit->key, strerror(-r));
	}
}

void service_cgroup_refused(struct service *s, int error)
{
	struct cgroups *cgroups = s->ctx->cgroups;
	char name[CGROUP_NAME_MAX];

	if (!cgroups->refused)
		log_line(s->ctx->log, LOG_WARNING,
			 "%s: does without a control group, as may others: %s", s->config->path,
			 strerror(error));
	cgroups->refused = true;
	cgroups_unwatch(cgroups, &s->watch);
	(void)cgroup_remove(cgroups->top, cgroups_name(name, s->config->path));
	s->has_cgroup = false;
}

int service_cgroup_open(struct service *s)
{
	struct cgroups *cgroups = s->ctx->cgroups;
	char name[CGROUP_NAME_MAX];
	int r = 0, fd;

	if (!cgroups)
		return -1;
	cgroups_unwatch(cgroups, &s->watch);
	cgroups_name(name, s->config->path);
	/* Linux kills whatever is started in a group that has ever been killed: it is made anew. */
	if (s->cgroup_killed && !service_cgroup_remove(s))
		return -1; /* somebody is in there still */
	s->cgroup_killed = false;
	if (!s->has_cgroup) {
		r = cgroup_make(cgroups->top, name);
		if (r == 0)
			set_limits(s, name);
	}
	fd = r < 0 ? r : cgroup_open_below(cgroups->top, name);
	if (fd < 0) {
		service_cgroup_refused(s, -fd);
		return -1;
	}
	s->has_cgroup = true;
	return fd;
}

bool service_cgroup_is_populated(const struct service *s)
{
	char name[CGROUP_NAME_MAX];
	int r;

	if (!s->has_cgroup)
		return false;
	r = cgroups_is_populated(s->ctx->cgroups, cgroups_name(name, s->config->path));
	/*
	 * If nobody knows, it is to be looked at again.  But without any descriptor that would be
	 * for ever: then those count that are known without the group.
	 */
	return r > 0 || (r < 0 && r != -EMFILE);
}

void service_cgroup_watch(struct service *s)
{
	char name[CGROUP_NAME_MAX];

	/* Should it not be possible, the timeout of the state looks after it. */
	if (s->has_cgroup)
		(void)cgroups_watch(s->ctx->cgroups, cgroups_name(name, s->config->path),
				    &s->watch);
}

static void on_changed(struct cgroup_watch *watch)
{
	struct service *s = container_of(watch, struct service, watch);

	if (!s->main.alive)
		service_look_after(s);
}

void service_cgroup_each(const struct service *s, void (*each)(pid_t pid, void *arg), void *arg)
{
	char name[CGROUP_NAME_MAX];

	if (s->has_cgroup)
		(void)cgroup_processes(s->ctx->cgroups->top, cgroups_name(name, s->config->path),
				       each, arg);
}

void service_cgroup_signal(const struct service *s, int signo)
{
	char name[CGROUP_NAME_MAX];

	if (s->has_cgroup)
		cgroups_signal(s->ctx->cgroups, cgroups_name(name, s->config->path), signo);
}

void service_cgroup_thaw_soon(struct service *s)
{
	if (s->has_cgroup)
		cgroups_thaw_soon(s->ctx->cgroups, &s->watch);
}

static void on_thaw(struct cgroup_watch *watch)
{
	const struct service *s = container_of(watch, struct service, watch);
	char name[CGROUP_NAME_MAX];

	if (s->has_cgroup)
		(void)cgroup_write(s->ctx->cgroups->top, cgroups_name(name, s->config->path),
				   "cgroup.freeze", "0");
}

const struct cgroup_news service_cgroup_news = { .changed = on_changed, .thaw = on_thaw };

void service_cgroup_kill(struct service *s)
{
	char name[CGROUP_NAME_MAX];

	if (!s->has_cgroup)
		return;
	s->cgroup_killed = true;
	(void)cgroups_kill(s->ctx->cgroups, cgroups_name(name, s->config->path));
}

bool service_cgroup_remove(struct service *s)
{
	char name[CGROUP_NAME_MAX];

	if (!s->has_cgroup)
		return true;
	if (cgroup_remove(s->ctx->cgroups->top, cgroups_name(name, s->config->path)) < 0)
		return false;
	cgroups_unwatch(s->ctx->cgroups, &s->watch);
	s->has_cgroup = false;
	return true;
}
