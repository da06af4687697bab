#include "daemon/sweep.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "daemon/probe.h"
#include "daemon/service-exit.h"
#include "sys/proc.h"
#include "sys/reap.h"

/* The dead are collected in portions: ten thousand at once are no reason not to answer. */
#define REAP_PER_TURN 256

struct sweep {
	struct tree *tree;
	int children_fd; /* or -errno */
	bool unreaped;	 /* there may be more dead */
	uint64_t strangers;
};

/* Remembered, so that it is looked at once only. */
static void remember(struct sweep *sweep, pid_t pid, enum process_kind kind)
{
	struct process *process;

	if (process_new(&process, kind, NULL) == 0)
		process_add(sweep->tree->ctx->processes, process, pid, -1);
}

static void inherit(pid_t pid, void *arg)
{
	remember(arg, pid, PROCESS_INHERITED);
}

int sweep_new(struct sweep **ret, struct tree *tree)
{
	struct sweep *sweep = malloc(sizeof(*sweep));

	if (!sweep)
		return -ENOMEM;
	*sweep = (struct sweep){ .tree = tree, .children_fd = proc_children_open() };
	if (sweep->children_fd >= 0)
		(void)proc_children(sweep->children_fd, inherit, sweep);
	else if (getpid() != 1)
		log_line(tree->ctx->log, LOG_WARNING,
			 "no list of children (%s): what services leave behind may stay",
			 strerror(-sweep->children_fd));
	*ret = tree->ctx->children = sweep;
	return 0;
}

struct sweep *sweep_free(struct sweep *sweep)
{
	if (!sweep)
		return NULL;
	(void)fd_close(sweep->children_fd);
	sweep->tree->ctx->children = NULL;
	free(sweep);
	return NULL;
}

static void on_death(const struct reap_exit *exit, void *arg)
{
	struct sweep *sweep = arg;
	struct process *process = process_find(sweep->tree->ctx->processes, exit->pid);

	/*
	 * Whose parent it was is our child now.  What is left of a main process in a control group is
	 * found in there.
	 */
	if (!process || process->kind != PROCESS_MAIN || !process->service->has_cgroup)
		sweep->tree->ctx->sweep = true;
	if (process && process->kind == PROCESS_HOOK) {
		hook_died(process, exit);
		return;
	}
	if (process && process->kind == PROCESS_PROBE) {
		probe_died(process, exit);
		return;
	}
	if (process && process->service) {
		service_process_died(process->service, process, exit);
		return;
	}
	sweep->strangers++;
	process_free(process);
}

bool sweep_reap(struct sweep *sweep)
{
	struct context *ctx = sweep->tree->ctx;
	unsigned n = reap_children(REAP_PER_TURN, on_death, sweep);

	context_settle_soon(ctx);
	sweep->unreaped = n == REAP_PER_TURN;
	return sweep->unreaped;
}

static struct service *service_of(struct sweep *sweep, pid_t pid, const struct proc_info *info)
{
	const struct process_table *processes = sweep->tree->ctx->processes;
	struct process *p = process_find_leader(processes, info->session);
	const struct cgroups *cgroups = sweep->tree->ctx->cgroups;
	char path[CONFIG_NAME_MAX + 1];
	struct node *node;

	if (cgroups && cgroups_node_of(cgroups, pid, path) == 0) {
		node = tree_find(sweep->tree, path);
		return node ? node->service : NULL;
	}
	if (!p || !p->service)
		p = process_find_leader(processes, info->group);
	if (p && p->service)
		return p->service;
	/* One command is in our session, and so is nobody else who became our child since. */
	if (sweep->tree->ctx->command && info->session == getsid(0)) {
		node = tree_find(sweep->tree, "main");
		return node ? node->service : NULL;
	}
	if (proc_environment(pid, "SWANSONG_NODE", path, sizeof(path)) < 0)
		return NULL;
	node = tree_find(sweep->tree, path);
	/* Anybody can say that.  If it were true, it would be in the control group. */
	return node && node->service && !node->service->has_cgroup ? node->service : NULL;
}

static void attribute(pid_t pid, void *arg)
{
	struct sweep *sweep = arg;
	struct process_table *processes = sweep->tree->ctx->processes;
	struct proc_info info;
	struct service *service;

	if (process_find(processes, pid) || proc_read(pid, &info) < 0 || info.state == 'Z')
		return;
	service = service_of(sweep, pid, &info);
	if (service && service_may_have_leftovers(service) &&
	    service_adopt(service, pid, info.group, info.name) == 0)
		return;
	remember(sweep, pid, PROCESS_STRANGER);
}

void sweep_look(struct sweep *sweep)
{
	if (sweep && sweep->children_fd >= 0)
		(void)proc_children(sweep->children_fd, attribute, sweep);
}

void sweep_settle(struct sweep *sweep)
{
	struct context *ctx = sweep->tree->ctx;
	struct service *s, *next;

	/* Looking at each of many dead would take longer than collecting them. */
	if (!(ctx->sweep || ctx->linger) || sweep->unreaped)
		return;
	if (ctx->sweep)
		sweep_look(sweep);
	ctx->sweep = ctx->linger = false;
	list_for_each_safe (s, next, &ctx->lingering, in_lingering)
		service_settle_exit(s);
}

uint64_t sweep_strangers(const struct sweep *sweep)
{
	return sweep->strangers;
}

struct killing {
	const struct process_table *processes;
	unsigned n;
};

static void kill_child(pid_t pid, void *arg)
{
	struct killing *killing = arg;
	const struct process *process = process_find(killing->processes, pid);

	if ((!process || process->kind != PROCESS_INHERITED) && kill(pid, SIGKILL) == 0)
		killing->n++;
}

unsigned sweep_kill_strangers(struct sweep *sweep)
{
	struct killing killing = { .processes = sweep->tree->ctx->processes };

	if (sweep->children_fd >= 0)
		(void)proc_children(sweep->children_fd, kill_child, &killing);
	return killing.n;
}
