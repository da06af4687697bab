#include "daemon/sweep.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "daemon/probe.h"
#include "daemon/service-exit.h"
#include "sys/proc.h"
#include "sys/reap.h"

/* The dead are collected in portions: ten thousand at once are no reason not to answer. */
#define REAP_PER_TURN 256
/* While they go on dying, perhaps without end, so many turns may pass before all children are looked at. */
#define LOOK_PUT_OFF_MAX 16
/* Who has no environment may be executing.  After this it just has none. */
#define BLANK_USEC (10 * USEC_PER_SEC)

struct sweep {
	struct tree *tree;
	int children_fd;  /* or -errno */
	bool unreaped;	  /* there may be more dead */
	bool reaped;	  /* some were collected in this turn */
	unsigned put_off; /* turns since children were to be looked at */
	bool missed;	  /* somebody could not be looked at */
	bool blank;	  /* somebody is to be looked at once more */
	unsigned looks;	  /* turns for that */
	uint64_t strangers;
};

/* Remembered, so that it is looked at once only. */
static struct process *remember(struct sweep *sweep, pid_t pid, enum process_kind kind)
{
	struct process *process;

	if (process_new(&process, kind, NULL) < 0)
		return NULL;
	process_add(sweep->tree->ctx->processes, process, pid, -1);
	return process;
}

static void inherit(pid_t pid, void *arg)
{
	(void)remember(arg, pid, PROCESS_INHERITED);
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
	sweep->reaped = n > 0;
	return sweep->unreaped;
}

void sweep_reap_child(struct sweep *sweep, pid_t pid)
{
	if (reap_child(pid, on_death, sweep))
		context_settle_soon(sweep->tree->ctx);
}

static struct service *service_at(const struct sweep *sweep, const char *path)
{
	const struct node *node = tree_find(sweep->tree, path);

	return node ? node->service : NULL;
}

/* *ret is NULL if it is of none.  Return: 0, or -errno if that cannot be known now. */
static int find_service(struct sweep *sweep, pid_t pid, const struct proc_info *info,
			struct service **ret)
{
	const struct process_table *processes = sweep->tree->ctx->processes;
	struct process *p = process_find_leader(processes, info->session);
	const struct cgroups *cgroups = sweep->tree->ctx->cgroups;
	char path[CONFIG_NAME_MAX + 1];
	int r = cgroups ? cgroups_node_of(cgroups, pid, path) : -ENOENT;

	*ret = NULL;
	if (r == 0)
		*ret = service_at(sweep, path);
	if (r == 0 || context_is_shortage(r))
		return r;
	if (!p || !p->service)
		p = process_find_leader(processes, info->group);
	if (p && p->service) {
		*ret = p->service;
		return 0;
	}
	/* One command is in our session, and so is nobody else who became our child since. */
	if (sweep->tree->ctx->command && info->session == getsid(0)) {
		*ret = service_at(sweep, "main");
		return 0;
	}
	r = proc_environment(pid, "SWANSONG_NODE", path, sizeof(path));
	if (r < 0)
		return context_is_shortage(r) || r == -ENODATA ? r : 0;
	*ret = service_at(sweep, path);
	/* Anybody can say that.  If it were true, it would be in the control group. */
	if (*ret && (*ret)->has_cgroup)
		*ret = NULL;
	return 0;
}

static void look_again(struct sweep *sweep, struct process *known, pid_t pid)
{
	if (!known)
		known = remember(sweep, pid, PROCESS_STRANGER);
	if (!known)
		return;
	known->blank = clock_now_usec() - known->since_usec < BLANK_USEC;
	sweep->blank |= known->blank;
}

static void attribute(pid_t pid, void *arg)
{
	struct sweep *sweep = arg;
	struct process_table *processes = sweep->tree->ctx->processes;
	struct process *known = process_find(processes, pid);
	struct service *service = NULL;
	struct proc_info info;
	int r;

	if (known && !known->blank)
		return;
	r = proc_read(pid, &info);
	if (r == 0 && info.state == 'Z')
		return;
	if (r == 0)
		r = find_service(sweep, pid, &info, &service);
	if (r == -ENODATA) {
		look_again(sweep, known, pid);
		return;
	}
	if (r < 0) {
		sweep->missed |= context_is_shortage(r);
		return;
	}
	process_free(known);
	if (service && service_may_have_leftovers(service) &&
	    service_adopt(service, pid, info.group, info.name) == 0)
		return;
	(void)remember(sweep, pid, PROCESS_STRANGER);
}

void sweep_look(struct sweep *sweep)
{
	struct context *ctx;

	if (!sweep || sweep->children_fd < 0)
		return;
	ctx = sweep->tree->ctx;
	sweep->missed = sweep->blank = false;
	(void)proc_children(sweep->children_fd, attribute, sweep);
	if (sweep->missed && context_give_up_spare(ctx)) {
		sweep->missed = false;
		(void)proc_children(sweep->children_fd, attribute, sweep);
		context_take_spare(ctx);
	}
}

/* Looking at all children for each of many dead would take longer than collecting those. */
static bool is_put_off(struct sweep *sweep)
{
	struct context *ctx = sweep->tree->ctx;
	bool dying = sweep->unreaped || (ctx->sweep && sweep->reaped);

	sweep->reaped = false;
	if (dying && sweep->put_off < LOOK_PUT_OFF_MAX) {
		sweep->put_off++;
		context_settle_soon(ctx);
		return true;
	}
	sweep->put_off = 0;
	return false;
}

void sweep_settle(struct sweep *sweep)
{
	struct context *ctx = sweep->tree->ctx;
	struct service *s, *next;

	if (!(ctx->sweep || ctx->linger) || is_put_off(sweep))
		return;
	if (ctx->sweep)
		sweep_look(sweep);
	/* What could not be looked at is looked at when something else has happened. */
	ctx->sweep = sweep->missed || sweep->blank;
	/* An exec takes no longer than some turns; whose that is has to be known before an exit is followed up. */
	if (sweep->blank && sweep->looks++ < LOOK_PUT_OFF_MAX) {
		context_settle_soon(ctx);
		return;
	}
	sweep->looks = 0;
	ctx->linger = false;
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
