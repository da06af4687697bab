/*
 * The kernel lists the children of the daemon; a comparison of their number with the known ones
 * shows if a scan is needed at all.  A scan attributes each unknown child to a service.  It waits
 * while many children end, and is repeated while one of them is in the middle of an exec, when it
 * has no environment.  Each wait has a limit.
 */
#include "daemon/reap/orphans.h"

#include "daemon/writer/child.h"
#include "daemon/node/user.h"
#include "daemon/spawn/command.h"
#include "daemon/spawn/starts.h"
#include "daemon/probe/attempt.h"
#include "daemon/reap/exit.h"
#include "daemon/service/start.h"
#include "sys/file/mount.h"
#include "sys/ipc/passed.h"
#include "sys/process/children.h"
#include "sys/process/snapshot.h"

/* Dead children are collected in portions, so that requests are answered in between. */
#define REAP_PER_TURN 256
/*
 * A list takes time for each child, and holds up those that are ending: the next one waits until 1 in
 * LIST_SHARE has ended, or for as long as the last one took, up to a limit.
 */
#define LIST_SHARE    4
#define LIST_MAX_USEC (10 * USEC_PER_MSEC)
/*
 * Limits in turns and time for putting off work until other children have executed their programs: there may
 * always be more of these, and a service that has ended must not exceed its stop-timeout meanwhile.
 */
#define PUT_OFF_MAX  16
#define PUT_OFF_USEC (1 * USEC_PER_SEC)
/* A process without environment may be in an exec; after this time it really has none. */
#define BLANK_USEC (10 * USEC_PER_SEC)

struct orphans {
	struct tree *tree;
	struct starts *starts;
	struct children children;
	bool listed;		/* the kernel provides a list */
	unsigned n;		/* children of the last list that are in the table */
	unsigned dead;		/* children of that list that had ended */
	unsigned launched;	/* of the context, at the last list */
	unsigned died;		/* children collected since the last list */
	uint64_t died_usec;	/* time of the first of them */
	uint64_t list_usec;	/* the duration of the last list */
	struct alarm due;	/* a list has waited for further ends */
	bool missed;		/* a child could not be looked at */
	bool blank;		/* children must be looked at again */
	unsigned put_off_turns; /* while a child is in an exec */
	unsigned killed;	/* by the last orphans_kill_unowned() */
	uint64_t put_off_usec;	/* since that time */
};

DEFINE_CLEANUP(struct orphans *, orphans_free)

/* Enters an unowned process, so that it is looked at only once. */
static struct process *orphans_remember(struct orphans *orphans, pid_t pid, enum process_kind kind)
{
	struct process *process;

	if (process_new(&process, kind, NULL) < 0)
		return NULL;
	process_add(orphans->tree->ctx->processes, process, pid, -1);
	return process;
}

static void orphans_inherit(pid_t pid, void *arg)
{
	(void)orphans_remember(arg, pid, PROCESS_INHERITED);
}

static void orphans_read_list(struct orphans *orphans, void (*each)(pid_t pid, void *arg))
{
	uint64_t begun = clock_now_usec();
	int n;

	orphans->missed = orphans->blank = false;
	orphans->dead = 0;
	n = children_read(&orphans->children, each, orphans);
	orphans->list_usec = clock_now_usec() - begun;
	orphans->missed |= n < 0;
	if (n < 0)
		return;
	orphans->n = (unsigned)n - orphans->dead;
	orphans->launched = orphans->tree->ctx->launched;
	orphans->died = 0;
}

/*
 * The number of children if only processes of launch() have been added since the last list.  Processes that
 * were found by a control group are counted only at their end, so there may be more children.
 */
static unsigned orphans_count(const struct orphans *orphans)
{
	unsigned n = orphans->n + orphans->tree->ctx->launched - orphans->launched;

	return n - MIN(n, orphans->died);
}

/*
 * Returns true if all children have been looked at: only processes of launch() have been added
 * since.  A process of launch() that failed to execute is not counted.
 */
static bool orphans_knows_all(struct orphans *orphans)
{
	return !orphans->missed && !orphans->blank &&
	       !children_exceed(&orphans->children, orphans_count(orphans));
}

static void orphans_on_due(struct alarm *alarm)
{
	const struct orphans *orphans = container_of(alarm, struct orphans, due);

	agenda_note(&orphans->tree->ctx->agenda, TASK_EXITS);
}

static void orphans_on_settled(struct process *process, const struct spawn_failure *why,
			       int refused, void *arg)
{
	const struct orphans *orphans = arg;
	pid_t pid = process->pid;

	service_settle_process(process, why, refused);
	/* The table does not have the process any more, so its end is not counted. */
	if (!process_find(orphans->tree->ctx->processes, pid))
		orphans->tree->ctx->launched--;
}

int orphans_new(struct orphans **ret, struct tree *tree)
{
	cleanup(orphans_freep) struct orphans *orphans = malloc(sizeof(*orphans));
	int r;

	if (!orphans)
		return -ENOMEM;
	*orphans = (struct orphans){ .tree = tree };
	alarm_init(&orphans->due, orphans_on_due);
	r = starts_new(&orphans->starts, tree->ctx, orphans_on_settled, orphans);
	if (r < 0)
		return r;
	r = children_open(&orphans->children, tree->ctx->keeper.reaper);
	orphans->listed = r == 0;
	/* The children of a daemon before its fault are those of its services. */
	if (orphans->listed && !tree->ctx->reason)
		orphans_read_list(orphans, orphans_inherit);
	else if (!orphans->listed && getpid() != 1)
		log_line(tree->ctx->log, LOG_WARNING,
			 "no list of children (%s): orphans of services may keep running",
			 strerror(-r));
	tree->ctx->orphans = orphans;
	*ret = take(orphans);
	return 0;
}

struct orphans *orphans_free(struct orphans *orphans)
{
	if (!orphans)
		return NULL;
	alarm_stop(&orphans->tree->ctx->alarms, &orphans->due);
	children_close(&orphans->children);
	starts_free(orphans->starts);
	orphans->tree->ctx->orphans = NULL;
	return free_memory(orphans);
}

/* Returns the service that the dead process belonged to, as far as this can be seen; or NULL. */
static struct service *orphans_last_service(const struct orphans *orphans,
					    const struct process *process, pid_t pid)
{
	const struct context *ctx = orphans->tree->ctx;
	const struct process *leader;
	const struct node *node = NULL;
	char path[CONFIG_NAME_MAX + 1];

	if (process)
		return process->service;
	leader = process_find_leader(ctx->processes, getsid(pid));
	if (leader && leader->service)
		return leader->service;
	if (ctx->cgroups && cgroups_node_of(ctx->cgroups, pid, path) == 0)
		node = tree_find(orphans->tree, path);
	return node ? node->service : NULL;
}

/* Like tini and swansong-init, logs all processes that the daemon has not made. */
static void orphans_log_reaped(const struct orphans *orphans, const struct process *process,
			       pid_t pid)
{
	const struct context *ctx = orphans->tree->ctx;

	if (ctx->command && ctx->command->options->log_reaped &&
	    (!process || process->kind == PROCESS_REMAINING || process->kind == PROCESS_UNOWNED ||
	     process->kind == PROCESS_INHERITED))
		log_line(ctx->log, LOG_WARNING, "Reaped zombie process with pid=%d", (int)pid);
}

static void orphans_on_death(const struct reap_exit *exit, void *arg)
{
	struct orphans *orphans = arg;
	struct process *process = process_find(orphans->tree->ctx->processes, exit->pid);
	struct service *s = orphans_last_service(orphans, process, exit->pid);

	/*
	 * Messages of the process count until it is collected, so they are read first.  One of them
	 * may have named another main process; this one is a remaining process then.
	 */
	if (s && s->setup.extras->notify) {
		notify_drain(s->setup.extras->notify);
		process = process_find(orphans->tree->ctx->processes, exit->pid);
	}
	/*
	 * Its children are children of the daemon now.  Those of a main process in a control group
	 * are found in that.
	 */
	if (!process || process->kind != PROCESS_MAIN || !process->service->group.exists)
		context_scan_orphans(orphans->tree->ctx);
	if (process && starts_end(orphans->starts, process))
		return;
	orphans_log_reaped(orphans, process, exit->pid);
	/* A child that is not in the table is not counted. */
	if (!process)
		return;
	if (orphans->died++ == 0)
		orphans->died_usec = clock_now_usec();
	switch (process->kind) {
	case PROCESS_HOOK:
		/* Processes that a final action leaves running were unowned until now. */
		if (!process->service) {
			process_recheck_unowned(orphans->tree->ctx->processes);
			orphans->blank = true;
		}
		hook_died(process, exit);
		break;
	case PROCESS_PROBE:
		probe_died(process, exit);
		break;
	case PROCESS_CLOSER:
		closer_died(process, exit);
		break;
	case PROCESS_LOGGER:
		logger_child_died(process);
		break;
	default:
		if (process->service)
			service_process_died(process->service, process, exit);
		else
			process_free(process);
	}
}

bool orphans_reap(struct orphans *orphans)
{
	unsigned n = keeper_reap(&orphans->tree->ctx->keeper, orphans_on_death, orphans);

	n += reap_children(REAP_PER_TURN, orphans_on_death, orphans);
	agenda_note(&orphans->tree->ctx->agenda, TASK_EXITS);
	return n >= REAP_PER_TURN;
}

void orphans_reap_child(struct orphans *orphans, pid_t pid)
{
	if (keeper_reap(&orphans->tree->ctx->keeper, orphans_on_death, orphans) > 0 ||
	    reap_child(pid, orphans_on_death, orphans))
		agenda_note(&orphans->tree->ctx->agenda, TASK_EXITS);
}

/*
 * Finds the node that the environment of @pid names, which a process can set freely.  A process of a service
 * with a control group is in that; but after a fault it is not known that the kernel had refused the group to a
 * service without a main process.  Return: see orphans_find_node().
 */
static int orphans_find_claimed(const struct orphans *orphans, pid_t pid, struct node **ret)
{
	char path[CONFIG_NAME_MAX + 1];
	const struct service *s;
	struct node *node;
	uid_t uid;
	int r = proc_uid(pid, &uid);

	if (r == 0)
		r = user_read_claim(orphans->tree->ctx, pid, uid, path);
	if (r < 0)
		return context_is_shortage(r) || r == -ENODATA ? r : 0;
	node = tree_find(orphans->tree, path);
	s = node ? node->service : NULL;
	if (node && !(s && s->group.exists && !s->run.found) &&
	    user_may_claim(s ? s->setup.launch.config : node->config, s ? &s->main : NULL, uid))
		*ret = node;
	return 0;
}

/*
 * Finds the node of @pid; *ret is NULL if there is none.  *claimed is set if the environment of the
 * process, or of the leader of its session, is the only evidence.  Return: 0, or -errno if it
 * cannot be known now.
 */
static int orphans_find_node(struct orphans *orphans, pid_t pid, const struct proc_info *info,
			     struct node **ret, bool *claimed)
{
	const struct process_table *processes = orphans->tree->ctx->processes;
	struct process *p = process_find_leader(processes, info->session);
	const struct cgroups *cgroups = orphans->tree->ctx->cgroups;
	char path[CONFIG_NAME_MAX + 1];
	int r = cgroups ? cgroups_node_of(cgroups, pid, path) : -ENOENT;

	*ret = NULL;
	*claimed = false;
	if (r == 0)
		*ret = tree_find(orphans->tree, path);
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
	if (orphans->tree->ctx->command && info->session == getsid(0)) {
		*ret = tree_find(orphans->tree, "main");
		return 0;
	}
	*claimed = true;
	return orphans_find_claimed(orphans, pid, ret);
}

/* Returns true if the process has an owner; without memory it is looked at again. */
static bool orphans_adopt(struct orphans *orphans, struct node *node, pid_t pid,
			  const struct proc_info *info, bool claimed)
{
	if (command_spares_remaining(node->ctx->command))
		return false;
	if (final_is_all_there_was(node)) {
		/* While the final action runs, the process may be a part of it. */
		if (final_hook(node) && hook_is_running(final_hook(node)))
			return false;
		node_log(node, LOG_INFO, "killing pid %d (%s): left behind by final", (int)pid,
			 info->name);
		(void)kill(pid, SIGKILL);
		return false;
	}
	if (!node->service || !service_may_have_remaining(node->service))
		return false;
	if (claimed && service_has_ended_claims(node->service)) {
		(void)kill(pid, SIGKILL);
		return false;
	}
	if (service_adopt(node->service, pid, info->group, info->name) < 0)
		orphans->missed = true;
	else
		process_find(node->ctx->processes, pid)->claimed = claimed;
	return true;
}

/* Only a child of this program is in its session, has its memory and such a name. */
static bool orphans_is_own(const struct proc_info *info)
{
	return !info->executed && info->session == getsid(0) &&
	       (strcmp(info->name, PASSED_NAME) == 0 || strcmp(info->name, MOUNT_NAME) == 0);
}

static void orphans_attribute(pid_t pid, void *arg)
{
	struct orphans *orphans = arg;
	struct process_table *processes = orphans->tree->ctx->processes;
	struct process *known = process_find(processes, pid);
	struct node *node = NULL;
	struct proc_info info;
	bool claimed;
	int r;

	if (known && !known->blank)
		return;
	r = proc_read(pid, &info);
	/* A keeper may have collected it. */
	if (r == -ENOENT || (r == 0 && info.state == 'Z')) {
		orphans->dead += !known;
		/* It may have ended after the list was made, which then lacks its children. */
		orphans->blank |= !known;
		return;
	}
	if (r == 0 && !known && orphans_is_own(&info)) {
		(void)orphans_remember(orphans, pid, PROCESS_INHERITED);
		return;
	}
	if (r == 0)
		r = orphans_find_node(orphans, pid, &info, &node, &claimed);
	if (r == -ENODATA) {
		if (!known)
			known = orphans_remember(orphans, pid, PROCESS_UNOWNED);
		if (known)
			known->blank = clock_now_usec() - known->since_usec < BLANK_USEC;
		orphans->blank |= known && known->blank;
		return;
	}
	if (r < 0) {
		orphans->missed |= context_is_shortage(r);
		return;
	}
	process_free(known);
	if (node && orphans_adopt(orphans, node, pid, &info, claimed))
		return;
	orphans->missed |= !orphans_remember(orphans, pid, PROCESS_UNOWNED);
}

static void orphans_attribute_new(struct orphans *orphans)
{
	struct context *ctx = orphans->tree->ctx;

	orphans_read_list(orphans, orphans_attribute);
	if (orphans->missed && context_give_up_spare(ctx)) {
		orphans_read_list(orphans, orphans_attribute);
		context_take_spare(ctx);
	}
}

void orphans_scan(struct orphans *orphans)
{
	if (orphans && orphans->listed && !orphans_knows_all(orphans))
		orphans_attribute_new(orphans);
}

static bool orphans_awaits_ends(struct orphans *orphans)
{
	uint64_t until = orphans->died_usec + MIN(orphans->list_usec, LIST_MAX_USEC);

	if (orphans->died == 0 || orphans->died >= orphans_count(orphans) / LIST_SHARE ||
	    until <= clock_now_usec())
		return false;
	alarm_set(&orphans->tree->ctx->alarms, &orphans->due, until);
	return true;
}

/*
 * The service of a process in an exec, and of one that could not be looked at, must be known before exits
 * are processed.
 */
static bool orphans_awaits_execs(struct orphans *orphans)
{
	uint64_t now = clock_now_usec();

	if (orphans->put_off_turns == 0)
		orphans->put_off_usec = now;
	if ((!orphans->blank && !orphans->missed) || orphans->put_off_turns == PUT_OFF_MAX ||
	    now - orphans->put_off_usec >= PUT_OFF_USEC) {
		orphans->put_off_turns = 0;
		return false;
	}
	orphans->put_off_turns++;
	agenda_note(&orphans->tree->ctx->agenda, TASK_EXITS);
	return true;
}

bool orphans_update(struct orphans *orphans)
{
	struct context *ctx = orphans->tree->ctx;

	if (ctx->scan_orphans && orphans->listed && !orphans_knows_all(orphans)) {
		if (orphans_awaits_ends(orphans))
			return false;
		orphans_attribute_new(orphans);
	}
	ctx->scan_orphans = orphans->missed || orphans->blank;
	if (ctx->scan_orphans)
		agenda_note_later(&ctx->agenda, TASK_EXITS);
	return !orphans_awaits_execs(orphans);
}

static void orphans_kill_child(struct orphans *orphans, pid_t pid)
{
	const struct process *process = process_find(orphans->tree->ctx->processes, pid);
	cleanup(snapshot_done) struct snapshot below = { .n = 0 };
	struct proc_info info;

	if (process && (process->kind == PROCESS_INHERITED || process->kind == PROCESS_CLOSER ||
			process->kind == PROCESS_LOGGER))
		return;
	/* A keeper reports one exit after the other. */
	if (proc_read(pid, &info) == 0 && (info.state == 'Z' || orphans_is_own(&info)))
		return;
	(void)snapshot_add_descendants(&below, pid);
	orphans->killed += kill(pid, SIGKILL) == 0;
	for (size_t i = 0; i < below.n; i++)
		orphans->killed += kill(below.entries[i].pid, SIGKILL) == 0;
}

struct children_list {
	pid_t *pids;
	size_t n;
};

static void orphans_list_child(pid_t pid, void *arg)
{
	struct children_list *list = arg;

	(void)array_append(list->pids, list->n, pid);
}

unsigned orphans_kill_unowned(struct orphans *orphans)
{
	struct children_list list = { .n = 0 };

	orphans->killed = 0;
	/* The children of one that is killed come to the end of a list that is being read. */
	if (orphans->listed && !command_spares_remaining(orphans->tree->ctx->command))
		(void)children_read(&orphans->children, orphans_list_child, &list);
	for (size_t i = 0; i < list.n; i++)
		orphans_kill_child(orphans, list.pids[i]);
	free(list.pids);
	return orphans->killed;
}
