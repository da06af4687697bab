/*
 * The kernel lists the children of the daemon; a comparison of their number with the known ones
 * shows if a scan is needed at all.  A scan attributes each unknown child to a service.  It is put
 * off while many children end, and repeated while one of them is in the middle of an exec, when it
 * has no environment.  Each wait has a limit in turns and in time.
 */
#include "daemon/reap/orphans.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/loop/closer.h"
#include "daemon/logger/child.h"
#include "daemon/spawn/final.h"
#include "daemon/probe/exec.h"
#include "daemon/reap/exit.h"
#include "sys/process/children.h"
#include "sys/process/proc.h"
#include "sys/process/reap.h"

/* Dead children are collected in portions, so that requests are answered in between. */
#define REAP_PER_TURN 256
/*
 * Work that waits for the ends or the execs of others is put off for this many turns, as there may
 * always be more of them; and for no longer than this time, as turns take long on a slow machine: a
 * service that has ended must not exceed its stop-timeout meanwhile.
 */
#define PUT_OFF_MAX  16
#define PUT_OFF_USEC (1 * USEC_PER_SEC)
/* A process without environment may be in an exec; after this time it really has none. */
#define BLANK_USEC (10 * USEC_PER_SEC)

struct put_off {
	unsigned turns;
	uint64_t since_usec;
};

struct sweep {
	struct tree *tree;
	struct children children;
	bool listed;		  /* the kernel provides a list */
	unsigned n;		  /* children of the last list, without those collected since */
	unsigned launched;	  /* of the context, at the last list */
	bool missed;		  /* a child could not be looked at */
	bool blank;		  /* a child must be looked at again */
	unsigned reaped;	  /* in this turn */
	struct put_off dying;	  /* while many children end */
	struct put_off executing; /* while a child is in an exec */
};

/* Enters an unowned process, so that it is looked at only once. */
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

static void read_list(struct sweep *sweep, void (*each)(pid_t pid, void *arg))
{
	int n;

	sweep->missed = sweep->blank = false;
	n = children_read(&sweep->children, each, sweep);
	if (n < 0)
		return;
	sweep->n = (unsigned)n;
	sweep->launched = sweep->tree->ctx->launched;
}

/*
 * Returns true if all children have been looked at: only processes of launch() have been added
 * since. A child that failed to execute is collected without being counted, so the number may be
 * too low until the next list, which is read because of that; it is never too high.
 */
static bool knows_all(struct sweep *sweep)
{
	unsigned launched = sweep->tree->ctx->launched - sweep->launched;

	return !sweep->missed && !sweep->blank &&
	       !children_exceed(&sweep->children, sweep->n + launched);
}

int sweep_new(struct sweep **ret, struct tree *tree)
{
	struct sweep *sweep = malloc(sizeof(*sweep));
	int r;

	if (!sweep)
		return -ENOMEM;
	*sweep = (struct sweep){ .tree = tree };
	r = children_open(&sweep->children);
	sweep->listed = r == 0;
	if (sweep->listed)
		read_list(sweep, inherit);
	else if (getpid() != 1)
		log_line(tree->ctx->log, LOG_WARNING,
			 "no list of children (%s): what services leave behind may stay",
			 strerror(-r));
	*ret = tree->ctx->children = sweep;
	return 0;
}

struct sweep *sweep_free(struct sweep *sweep)
{
	if (!sweep)
		return NULL;
	children_close(&sweep->children);
	sweep->tree->ctx->children = NULL;
	free(sweep);
	return NULL;
}

static struct service *service_at(const struct sweep *sweep, const char *path)
{
	const struct node *node = tree_find(sweep->tree, path);

	return node ? node->service : NULL;
}

/* Returns the service that the dead process belonged to, as far as this can be seen; or NULL. */
static struct service *last_service(const struct sweep *sweep, const struct process *process,
				    pid_t pid)
{
	const struct context *ctx = sweep->tree->ctx;
	const struct process *leader;
	char path[CONFIG_NAME_MAX + 1];
	pid_t session;

	if (process)
		return process->service;
	session = getsid(pid);
	leader = session > 0 ? process_find_leader(ctx->processes, session) : NULL;
	if (leader && leader->service)
		return leader->service;
	if (ctx->cgroups && cgroups_node_of(ctx->cgroups, pid, path) == 0)
		return service_at(sweep, path);
	return NULL;
}

static void on_death(const struct reap_exit *exit, void *arg)
{
	struct sweep *sweep = arg;
	struct process *process = process_find(sweep->tree->ctx->processes, exit->pid);
	struct service *s = last_service(sweep, process, exit->pid);

	/*
	 * Messages of the process count until it is collected, so they are read first.  One of them
	 * may have named another main process; this one is a remaining process then.
	 */
	if (s && s->setup.notify) {
		notify_drain(s->setup.notify);
		process = process_find(sweep->tree->ctx->processes, exit->pid);
	}
	sweep->n--;
	/*
	 * Its children are children of the daemon now.  Those of a main process in a control group
	 * are found in that.
	 */
	if (!process || process->kind != PROCESS_MAIN || !process->service->group.exists)
		context_scan_orphans(sweep->tree->ctx);
	if (process && process->kind == PROCESS_HOOK) {
		/* Processes that a final action leaves running were unowned until now. */
		if (!process->service) {
			process_doubt_strangers(sweep->tree->ctx->processes);
			sweep->blank = true;
		}
		hook_died(process, exit);
		return;
	}
	if (process && process->kind == PROCESS_PROBE) {
		probe_died(process, exit);
		return;
	}
	if (process && process->kind == PROCESS_CLOSER) {
		closer_died(process);
		return;
	}
	if (process && process->kind == PROCESS_LOGGER) {
		logger_child_died(process);
		return;
	}
	if (process && process->service) {
		service_process_died(process->service, process, exit);
		return;
	}
	process_free(process);
}

bool sweep_reap(struct sweep *sweep)
{
	sweep->reaped = reap_children(REAP_PER_TURN, on_death, sweep);
	agenda_note(&sweep->tree->ctx->agenda, TASK_EXITS);
	return sweep->reaped == REAP_PER_TURN;
}

void sweep_reap_child(struct sweep *sweep, pid_t pid)
{
	if (reap_child(pid, on_death, sweep))
		agenda_note(&sweep->tree->ctx->agenda, TASK_EXITS);
}

/*
 * Finds the node of @pid; *ret is NULL if there is none.  *claimed is set if the environment of the
 * process, or of the leader of its session, is the only evidence.  Return: 0, or -errno if it
 * cannot be known now.
 */
static int find_node(struct sweep *sweep, pid_t pid, const struct proc_info *info,
		     struct node **ret, bool *claimed)
{
	const struct process_table *processes = sweep->tree->ctx->processes;
	struct process *p = process_find_leader(processes, info->session);
	const struct cgroups *cgroups = sweep->tree->ctx->cgroups;
	char path[CONFIG_NAME_MAX + 1];
	int r = cgroups ? cgroups_node_of(cgroups, pid, path) : -ENOENT;

	*ret = NULL;
	*claimed = false;
	if (r == 0)
		*ret = tree_find(sweep->tree, path);
	if (r == 0 || context_is_shortage(r))
		return r;
	if (!p || !p->service)
		p = process_find_leader(processes, info->group);
	if (p && p->service) {
		*ret = p->service->node;
		*claimed = p->claimed;
		return 0;
	}
	/* Only the command is in the session of the daemon; no other new child is. */
	if (sweep->tree->ctx->command && info->session == getsid(0)) {
		*ret = tree_find(sweep->tree, "main");
		return 0;
	}
	r = proc_environment(pid, "SWANSONG_NODE", path, sizeof(path));
	if (r < 0)
		return context_is_shortage(r) || r == -ENODATA ? r : 0;
	*ret = tree_find(sweep->tree, path);
	*claimed = true;
	/*
	 * A process can set its environment freely; were it true, it would be in the control group.
	 */
	if (*ret && (*ret)->service && (*ret)->service->group.exists)
		*ret = NULL;
	return 0;
}

static bool adopt(struct node *node, pid_t pid, const struct proc_info *info, bool claimed)
{
	if (final_is_all_there_was(node)) {
		/* While the command runs, the process may do its work. */
		if (final_hook(node) && hook_is_running(final_hook(node)))
			return false;
		log_node(node->ctx->log, LOG_INFO, node_name(node),
			 "killing pid %d (%s), which final has left", (int)pid, info->name);
		(void)kill(pid, SIGKILL);
		return false;
	}
	if (!node->service || !service_may_have_leftovers(node->service) ||
	    service_adopt(node->service, pid, info->group, info->name) < 0)
		return false;
	process_find(node->ctx->processes, pid)->claimed = claimed;
	return true;
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
	struct node *node = NULL;
	struct proc_info info;
	bool claimed;
	int r;

	if (known && !known->blank)
		return;
	r = proc_read(pid, &info);
	if (r == 0 && info.state == 'Z')
		return;
	if (r == 0)
		r = find_node(sweep, pid, &info, &node, &claimed);
	if (r == -ENODATA) {
		look_again(sweep, known, pid);
		return;
	}
	if (r < 0) {
		sweep->missed |= context_is_shortage(r);
		return;
	}
	process_free(known);
	if (node && adopt(node, pid, &info, claimed))
		return;
	(void)remember(sweep, pid, PROCESS_STRANGER);
}

void sweep_look(struct sweep *sweep)
{
	struct context *ctx;

	if (!sweep || !sweep->listed || knows_all(sweep))
		return;
	ctx = sweep->tree->ctx;
	read_list(sweep, attribute);
	if (sweep->missed && context_give_up_spare(ctx)) {
		read_list(sweep, attribute);
		context_take_spare(ctx);
	}
}

static bool put_off(struct sweep *sweep, bool wait, struct put_off *p)
{
	uint64_t now = clock_now_usec();

	if (p->turns == 0)
		p->since_usec = now;
	if (!wait || p->turns == PUT_OFF_MAX || now - p->since_usec >= PUT_OFF_USEC) {
		p->turns = 0;
		return false;
	}
	p->turns++;
	agenda_note(&sweep->tree->ctx->agenda, TASK_EXITS);
	return true;
}

bool sweep_settle(struct sweep *sweep)
{
	struct context *ctx = sweep->tree->ctx;
	/*
	 * Looking at all children for each of many dead ones would take longer than collecting
	 * these.
	 */
	bool dying = sweep->reaped == REAP_PER_TURN || (ctx->scan_orphans && sweep->reaped > 0);

	sweep->reaped = 0;
	if (put_off(sweep, dying, &sweep->dying))
		return false;
	if (ctx->scan_orphans)
		sweep_look(sweep);
	ctx->scan_orphans = sweep->missed || sweep->blank;
	if (ctx->scan_orphans)
		agenda_note_later(&ctx->agenda, TASK_EXITS);
	/* The service of a process in an exec must be known before exits are processed. */
	return !put_off(sweep, sweep->blank, &sweep->executing);
}

struct killing {
	const struct process_table *processes;
	unsigned n;
};

static void kill_child(pid_t pid, void *arg)
{
	struct killing *killing = arg;
	const struct process *process = process_find(killing->processes, pid);

	if (process && (process->kind == PROCESS_INHERITED || process->kind == PROCESS_CLOSER ||
			process->kind == PROCESS_LOGGER))
		return;
	if (kill(pid, SIGKILL) == 0)
		killing->n++;
}

unsigned sweep_kill_strangers(struct sweep *sweep)
{
	struct killing killing = { .processes = sweep->tree->ctx->processes };

	if (sweep->listed)
		(void)children_read(&sweep->children, kill_child, &killing);
	return killing.n;
}
