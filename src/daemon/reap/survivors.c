/*
 * When a daemon is killed, the processes of its services go to process 1 or to another subreaper.  A
 * service takes one of them as its main process, its pidfd shows the end, and the run is stopped from
 * its beginning.
 *
 * Processes below any running swansongd, also one in a container, are supervised by that one.
 */
#include "daemon/reap/survivors.h"

#include "daemon/guard/lease-fd.h"
#include "daemon/loop/mark.h"
#include "daemon/node/user.h"
#include "daemon/reap/exit.h"
#include "daemon/service/machine.h"
#include "daemon/service/main-process.h"
#include "daemon/service/notify.h"
#include "daemon/succession/succession.h"
#include "daemon/tree/goals.h"
#include "sys/process/cgroup.h"
#include "sys/process/children.h"

/* Time for processes of no service to end, and time between two kills. */
#define END_USEC	(10 * USEC_PER_SEC)
#define KILL_AGAIN_USEC USEC_PER_SEC
/* Number of processes that are named in the log. */
#define NAMED_MAX 8

static void survivors_restart(struct goals *goals, struct node *node)
{
	const char *reason =
		node->ctx->reason ? "swansongd had a fault" : "an earlier swansongd was killed";

	if (node_is_aside(node))
		goals_lower(goals, node, REQUEST_REMOVE, reason);
	else if (node->goal == GOAL_IDLE)
		goals_retire(goals->tree, node, reason);
	else
		goals_lower(goals, node, REQUEST_CYCLE, reason);
}

/* --- after a fault --- */

static int survivors_compare_pids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void survivors_note_child(pid_t pid, void *arg)
{
	struct survivors *survivors = arg;

	if (array_append(survivors->children, survivors->n_children, pid) < 0)
		survivors->listed = false;
}

/* A list of them takes less time than a look at each. */
static void survivors_list_children(struct survivors *survivors)
{
	struct children list;

	if (children_open(&list, survivors->tree->ctx->keeper.reaper) < 0)
		return;
	survivors->listed = true;
	if (children_read(&list, survivors_note_child, survivors) < 0)
		survivors->listed = false;
	children_close(&list);
	if (survivors->listed)
		array_sort(survivors->children, survivors->n_children, survivors_compare_pids);
}

/* Return: 0; -ECHILD: @pid is known, or no child of the daemon or of its keeper; -errno. */
static int survivors_take_child(const struct survivors *survivors, struct service *s, pid_t pid)
{
	pid_t reaper = s->ctx->keeper.reaper;
	struct proc_info child = { .parent = reaper, .group = pid };
	bool listed = survivors->listed && survivors->children &&
		      bsearch(&pid, survivors->children, survivors->n_children, sizeof(pid),
			      survivors_compare_pids);

	if (process_find(s->ctx->processes, pid))
		return -ECHILD;
	if (!(listed && getpgid(pid) == pid) && proc_read_child(pid, &child) < 0 &&
	    proc_read(pid, &child) < 0)
		return -ECHILD;
	return child.parent == reaper ? service_take_left(s, pid, &child) : -ECHILD;
}

static void survivors_signal_removed(const struct survivors *survivors, int signo)
{
	const struct context *ctx = survivors->tree->ctx;

	for (size_t i = 0; i < survivors->n_removed; i++) {
		const struct process process = { .pid = survivors->removed[i], .alive = true };
		const struct process *known = process_find(ctx->processes, process.pid);
		struct proc_info info;

		if (!(known && known->service) && proc_read(process.pid, &info) == 0 &&
		    info.parent == ctx->keeper.reaper)
			process_signal_session(&process, signo);
	}
}

/*
 * The section was removed, and the fault came before the end of its service.  A process in a control group is ended
 * with that.
 */
static void survivors_end_removed(struct survivors *survivors, const struct roster_row *row)
{
	const struct tree *tree = survivors->tree;
	struct service_row was;

	memcpy(&was, row->detail, sizeof(was));
	if (row->number <= 0 || (tree->ctx->cgroups && !was.run.refused) ||
	    succession_section(tree, row->path) ||
	    array_append(survivors->removed, survivors->n_removed, row->number) < 0)
		return;
	log_line(tree->ctx->log, LOG_WARNING, "%s: ending pid %d of no service", row->path,
		 row->number);
	alarm_set(&tree->ctx->alarms, &survivors->timer, clock_now_usec() + END_USEC);
}

static void survivors_go_on(struct survivors *survivors, struct goals *goals,
			    const struct roster_row *row)
{
	struct node *node = tree_find(goals->tree, row->path);
	struct service *s = node ? node->service : NULL;
	enum service_state was;

	if (!s)
		survivors_end_removed(survivors, row);
	if (!s || s->state != STATE_DOWN || !service_can_resume(s, row) ||
	    (row->number && survivors_take_child(survivors, s, row->number) < 0))
		return;
	was = service_resume(s, row);
	if (!row->number)
		return;
	/* The run was being ended; or its messages or guards would be lost. */
	if (was == STATE_CLEANING || s->run.found ||
	    (fsm_is_going_down(was) && node->goal == GOAL_IDLE) ||
	    (s->setup.extras->notify && !notify_is_former(s->setup.extras->notify)) ||
	    (s->setup.extras->attach && !attach_take_former(s->setup.extras->attach))) {
		survivors_restart(goals, node);
		return;
	}
	if (node->goal == GOAL_IDLE)
		goals_raise(node, REQUEST_NEED, goals->cause);
	survivors->going_on++;
	node_log(node, LOG_DEBUG, "goes on with pid %d (%s)", row->number, s->main.name);
}

/* --- in control groups --- */

/* The process of a group that was its main process, as far as this can be seen. */
struct main_search {
	pid_t pid; /* 0: none */
	uint64_t age_usec;
	bool leads; /* a session, as each main process does at its start */
	unsigned n; /* processes in all, but those of the table */
	struct process_table *processes;
};

/* An unowned process may be of a service that was added since it was looked at. */
static bool survivors_is_known(const struct process_table *processes, pid_t pid)
{
	const struct process *known = process_find(processes, pid);

	return known && known->kind != PROCESS_UNOWNED;
}

static void survivors_compare_main(pid_t pid, void *arg)
{
	struct main_search *found = arg;
	struct proc_info info;
	uint64_t age_usec;
	bool leads;

	if (survivors_is_known(found->processes, pid) || proc_read(pid, &info) < 0 ||
	    info.state == 'Z' || proc_age(pid, &age_usec) < 0)
		return;
	found->n++;
	leads = info.session == pid;
	if (leads < found->leads || (leads == found->leads && age_usec <= found->age_usec))
		return;
	*found = (struct main_search){ pid, age_usec, leads, found->n, found->processes };
}

static struct node *survivors_find_node(struct tree *tree, const char *group)
{
	char path[CONFIG_NAME_MAX + 1];
	struct node *node =
		cgroups_node_of_name(group, path) == 0 ? succession_find_claimed(tree, path) : NULL;

	return node && node->service ? node : NULL;
}

static void survivors_stop_service(struct goals *goals, struct node *node,
				   const struct main_search *found)
{
	int r;

	process_free(process_find(node->ctx->processes, found->pid));
	r = service_take_left(node->service, found->pid, NULL);
	if (r < 0) {
		node_log(node, LOG_ERR,
			 "killing %u processes of an earlier swansongd, as their ends cannot be "
			 "noticed: %s",
			 found->n, strerror(-r));
		control_group_kill(&node->service->group);
		return;
	}
	service_handle(node->service, EVENT_FOUND);
	node->service->run.found = true;
	service_update_roster(node->service);
	if (node->service->setup.extras->attach)
		(void)attach_take_former(node->service->setup.extras->attach);
	node_log(node, LOG_WARNING,
		 "stopping %u processes of an earlier swansongd, with pid %d (%s)", found->n,
		 (int)found->pid, node->service->main.name);
	survivors_restart(goals, node);
}

static void survivors_signal_group(const struct survivors *survivors, const char *group)
{
	struct cgroups *cgroups = survivors->tree->ctx->cgroups;

	if (survivors->killing) {
		(void)cgroups_kill(cgroups, group);
		return;
	}
	log_line(cgroups->ctx->log, LOG_WARNING,
		 "%s: ending the processes of an earlier swansongd, which are of no service now",
		 group);
	(void)cgroup_write(cgroups->top, group, "cgroup.freeze", "0");
	cgroups_signal(cgroups, group, SIGTERM);
	cgroups_signal(cgroups, group, SIGCONT);
}

static void survivors_on_strange_group(const char *group, void *arg)
{
	struct survivors *survivors = arg;
	struct tree *tree = survivors->tree;

	if (survivors_find_node(tree, group) || cgroup_remove(tree->ctx->cgroups->top, group) == 0)
		return;
	survivors_signal_group(survivors, group);
	alarm_set(&tree->ctx->alarms, &survivors->timer,
		  clock_now_usec() + (survivors->killing ? KILL_AGAIN_USEC : END_USEC));
}

static void survivors_on_timer(struct alarm *alarm)
{
	struct survivors *survivors = container_of(alarm, struct survivors, timer);

	survivors->killing = true;
	survivors_signal_removed(survivors, SIGKILL);
	survivors->n_removed = 0;
	if (survivors->tree->ctx->cgroups)
		(void)cgroup_children(survivors->tree->ctx->cgroups->top,
				      survivors_on_strange_group, survivors);
}

static void survivors_on_group(const char *group, void *arg)
{
	struct survivors *survivors = arg;
	struct node *node = survivors_find_node(survivors->tree, group);

	if (node)
		node->service->group.exists = true;
	else
		survivors->strange = true;
}

/* Without a list each of them may exist. */
static void survivors_find_groups(struct survivors *survivors)
{
	struct node *root = survivors->tree->root;

	if (cgroup_children(survivors->tree->ctx->cgroups->top, survivors_on_group, survivors) >= 0)
		return;
	for (struct node *n = root; n; n = node_next(n, root))
		if (n->service)
			n->service->group.exists = true;
	survivors->strange = true;
}

static void survivors_stop_groups(struct goals *goals)
{
	struct node *root = goals->tree->root;

	for (struct node *n = root; n; n = node_next(n, root)) {
		struct service *s = n->service;
		struct main_search found = { .processes = n->ctx->processes };
		char name[CGROUP_NAME_MAX], claim[CONFIG_NAME_MAX + 1];

		if (!s || s->state != STATE_DOWN || control_group_remove(&s->group))
			continue;
		(void)cgroup_processes(n->ctx->cgroups->top,
				       cgroups_name(name, control_group_claim(&s->group, claim)),
				       survivors_compare_main, &found);
		if (found.pid > 0)
			survivors_stop_service(goals, n, &found);
	}
}

/* --- without control groups --- */

struct claims {
	const struct survivors *survivors;
	struct tree *tree;
	struct goals *goals;
	unsigned n;
	bool all;    /* also children that lead no session are looked at */
	bool missed; /* there are such children of services without a leader */
	uid_t uid;   /* the last one that was looked up, and the result */
	bool may_claim;
};

/* Returns true if a process of @uid may be one of a service: those of other users are not read. */
static bool survivors_has_user(struct claims *claims, uid_t uid)
{
	const struct config *config = claims->tree->config;

	if (uid == claims->uid)
		return claims->may_claim;
	claims->uid = uid;
	claims->may_claim = false;
	for (size_t i = 0; i < config->n_nodes && !claims->may_claim; i++)
		claims->may_claim = user_may_claim(config->nodes[i], NULL, uid);
	return claims->may_claim;
}

static int survivors_on_remaining_gone(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct process *p = arg;
	struct proc_info info;

	(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (proc_read(p->pid, &info) < 0 || info.parent != p->service->ctx->keeper.reaper)
		service_process_died(p->service, p, NULL);
	return 0;
}

/* Takes a process that is no child, beside a main process that was found. */
static void survivors_take_remaining(struct service *s, pid_t pid, const struct proc_info *info)
{
	int pidfd = proc_open(pid);
	struct process *p;

	if (pidfd < 0 || service_adopt(s, pid, info->group, info->name) < 0) {
		fd_close(pidfd);
		return;
	}
	p = process_find(s->ctx->processes, pid);
	p->pidfd = pidfd;
	if (sd_event_add_io(s->ctx->event, &p->gone, pidfd, EPOLLIN, survivors_on_remaining_gone,
			    p) < 0)
		process_free(p);
}

/*
 * The first leader of a session is the main process, or without one any process.  An orphan scan finds the
 * other children.
 */
static void survivors_on_own(struct claims *claims, struct node *node, const struct proc_info *info,
			     pid_t pid)
{
	const struct main_search found = { .pid = pid, .n = 1 };
	struct service *s = node->service;

	if (info->state == 'Z' || (s->state != STATE_DOWN && claims->tree->ctx->reason))
		return;
	if (s->state == STATE_DOWN && (info->session == pid || claims->all))
		survivors_stop_service(claims->goals, node, &found);
	else if (s->state != STATE_DOWN && claims->all)
		survivors_take_remaining(s, pid, info);
	else
		claims->missed = true;
}

/*
 * A child that leads a session as swansongd, and not with a program, was being started: no service awaits it
 * now.  Its environment is that of the former image.
 */
static bool survivors_end_start(const struct claims *claims, pid_t pid)
{
	struct proc_info own, info;

	return claims->tree->ctx->reason && proc_read(pid, &info) == 0 && !info.executed &&
	       info.parent == claims->tree->ctx->keeper.reaper && info.session == pid &&
	       proc_read(getpid(), &own) == 0 && strcmp(info.name, own.name) == 0 &&
	       kill(pid, SIGKILL) == 0;
}

static int survivors_on_process(pid_t pid, void *arg)
{
	struct claims *claims = arg;
	char path[CONFIG_NAME_MAX + 1];
	struct proc_info info;
	const struct node *section;
	struct node *node;
	uid_t uid;

	if (survivors_is_known(claims->tree->ctx->processes, pid) || proc_uid(pid, &uid) < 0 ||
	    !survivors_has_user(claims, uid) || survivors_end_start(claims, pid) ||
	    user_read_claim(claims->tree->ctx, pid, uid, path) < 0)
		return 0;
	section = succession_section(claims->tree, path);
	if (!section || !section->service || !user_may_claim(section->config, NULL, uid) ||
	    proc_read(pid, &info) < 0)
		return 0;
	if (claims->tree->ctx->reason ? info.parent == claims->tree->ctx->keeper.reaper
				      : mark_is_left(claims->tree->ctx, pid)) {
		/* A process that is no child never becomes a successor or predecessor. */
		node = succession_find_claimed(claims->tree, path);
		if (node)
			survivors_on_own(claims, node, &info, pid);
	} else if (!claims->all && !mark_is_supervised(pid) && claims->n++ < NAMED_MAX)
		node_log(section, LOG_WARNING, "pid %d (%s) is left from an earlier swansongd",
			 (int)pid, info.name);
	return 0;
}

/* After a fault the processes of services are children of the daemon, or become so when their parents end. */
static void survivors_read_processes(struct claims *claims)
{
	const struct survivors *survivors = claims->survivors;

	if (!survivors->listed)
		(void)proc_each(survivors_on_process, claims);
	for (size_t i = 0; survivors->listed && i < survivors->n_children; i++)
		(void)survivors_on_process(survivors->children[i], claims);
}

static void survivors_find_claims(const struct survivors *survivors, struct goals *goals)
{
	struct claims claims = {
		.survivors = survivors, .tree = goals->tree, .goals = goals, .uid = (uid_t)-1
	};
	struct context *ctx = goals->tree->ctx;

	if (ctx->command)
		return;
	survivors_read_processes(&claims);
	claims.all = true;
	if (claims.missed)
		survivors_read_processes(&claims);
	if (claims.n > 0)
		log_line(
			ctx->log, LOG_WARNING,
			"%u process%s of these services left from an earlier swansongd: end %s, as "
			"the services are started beside %s",
			claims.n, claims.n == 1 ? "" : "es", claims.n == 1 ? "it" : "them",
			claims.n == 1 ? "it" : "them");
}

/* Lists what there is: children, after a fault, and control groups. */
static void survivors_list(struct survivors *survivors)
{
	if (survivors->tree->ctx->reason)
		survivors_list_children(survivors);
	if (survivors->tree->ctx->cgroups)
		survivors_find_groups(survivors);
}

/* Processes of services that are down belong to these. */
static void survivors_claim(struct survivors *survivors, struct goals *goals)
{
	survivors_stop_groups(goals);
	if (!goals->tree->ctx->cgroups || goals->tree->ctx->reason)
		survivors_find_claims(survivors, goals);
	survivors->children = free_memory(survivors->children);
	survivors->n_children = 0;
}

void survivors_claim_added(struct survivors *survivors)
{
	struct tree *tree = survivors->tree;
	struct goals goals;

	if (survivors->timer.usec == USEC_INFINITY)
		return;
	goals_begin(&goals, tree, CAUSE_CONFIGURATION);
	survivors_list(survivors);
	survivors_claim(survivors, &goals);
	goals_commit(&goals);
}

void survivors_begin(struct survivors *survivors, struct tree *tree)
{
	struct goals goals;
	struct roster_row *row;
	struct node *node;

	*survivors = (struct survivors){ .tree = tree };
	alarm_init(&survivors->timer, survivors_on_timer);
	goals_begin(&goals, tree, CAUSE_CONFIGURATION);
	successions_take_former(tree);
	survivors_list(survivors);
	tree_for_each_row (node, row, tree, ROSTER_FINAL)
		final_claim(node, row);
	for (size_t at = 0; (row = roster_next(tree->ctx->roster, ROSTER_PROCESS, &at));)
		survivors_go_on(survivors, &goals, row);
	survivors_signal_removed(survivors, SIGTERM);
	if (survivors->going_on > 0)
		log_line(tree->ctx->log, LOG_INFO, "%u service%s on as before", survivors->going_on,
			 survivors->going_on == 1 ? " goes" : "s go");
	tree_for_each_row (node, row, tree, ROSTER_MESSAGES)
		if (node->service)
			service_take_messages(node->service, row);
	tree_for_each_row (node, row, tree, ROSTER_LEASE_FD) {
		struct ucred peer;
		const struct lease_wish wish = lease_former_wish(row, &peer);

		row->kind = ROSTER_NONE;
		if (lease_fd_new(node, &wish, row->number) != 0)
			closer_discard(tree->ctx, row->path, &row->number, 1);
	}
	survivors_claim(survivors, &goals);
	goals_commit(&goals);
	if (survivors->strange)
		(void)cgroup_children(tree->ctx->cgroups->top, survivors_on_strange_group,
				      survivors);
}

void survivors_done(struct survivors *survivors)
{
	free(take(survivors->removed));
}
