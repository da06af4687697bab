/*
 * A lease holds a guard of libswansong on the generation that was present when it was taken.  All
 * ends of it, by its holder, by its timer or by force, go through lease_release().  Leases are
 * counted for each user, so that one user cannot take all of them.
 */
#include "daemon/guard/lease.h"

#define LEASE_TEXT_MAX (LEASE_WHY_MAX + 96)

/* A user who holds leases; there are few of them. */
struct lease_user {
	struct list in_context;
	uid_t uid;
	unsigned n;
};

static struct lease_user *lease_find_user(struct context *ctx, uid_t uid)
{
	struct lease_user *user;

	list_for_each (user, &ctx->guards.users, in_context)
		if (user->uid == uid)
			return user;
	return NULL;
}

/* Returns the entry of @uid, a new one if necessary; NULL without memory. */
static struct lease_user *lease_make_user(struct context *ctx, uid_t uid)
{
	struct lease_user *user = lease_find_user(ctx, uid);

	if (user)
		return user;
	user = calloc(1, sizeof(*user));
	if (!user)
		return NULL;
	user->uid = uid;
	list_append(&ctx->guards.users, &user->in_context);
	return user;
}

static void lease_release(struct lease *lease)
{
	struct node *node = lease->node;

	if (!node)
		return;
	lease->node = NULL;
	list_remove(&lease->of_node);
	alarm_stop(&node->ctx->alarms, &lease->expiry);
	roster_write(node->ctx->roster, &lease->place, NULL);
	node->ctx->guards.n_leases--;
	if (--lease->user->n == 0) {
		list_remove(&lease->user->in_context);
		free(lease->user);
	}
	traces_expect(&node->ctx->traces, -1);
	node_guards_changed(node);
	if (node->goal == GOAL_GONE)
		node_update_soon(node);
	if (node_is_use(node))
		node_add_task(node, TASK_TRANSIENT);
	swansong_guard_drop(&lease->guard);
}

static void lease_lose(struct lease *lease, enum lease_end how)
{
	lease_release(lease);
	if (lease->lost)
		lease->lost(lease, how, lease->arg);
}

void lease_lose_all(struct node *node)
{
	while (!list_is_empty(&node->leases))
		lease_lose(list_entry(node->leases.next, struct lease, of_node), LEASE_REVOKED);
}

/* Prints "pid 812 (pg_dump): nightly". */
static char *lease_text(char buf[static LEASE_TEXT_MAX], const struct lease *lease)
{
	(void)snprintf(buf, LEASE_TEXT_MAX, "pid %d (%s)%s%s", (int)lease->peer.pid, lease->command,
		       *lease->why ? ": " : "", lease->why);
	return buf;
}

void lease_revoke(struct lease *lease, const char *reason)
{
	struct node *node = lease->node;
	char text[LEASE_TEXT_MAX], age[CLOCK_TEXT_MAX];

	lease_text(text, lease);
	node_log(node, LOG_WARNING, "revoking the guard of %s%s", text, reason);
	forced_kills_add(node->ctx->forced_kills, node->path, "revoked, after %s, the guard of %s",
			 clock_text(age, clock_now_usec() - lease->since_usec), text);
	trace_guard_end(node->trace, lease->id, "revoked");
	lease_lose(lease, LEASE_REVOKED);
}

static void lease_on_expiry(struct alarm *alarm)
{
	struct lease *lease = container_of(alarm, struct lease, expiry);
	char text[LEASE_TEXT_MAX], ttl[CLOCK_TEXT_MAX];

	if (lease->limit_usec < lease->until_usec) {
		/*
		 * The lease was on an earlier generation: the present one counts as forced, but not as late.
		 */
		for (struct node *n = lease->node; n; n = n->parent)
			n->force.any_usec = clock_now_usec();
		lease_revoke(lease, ": the budget of that stop has expired");
		return;
	}
	node_log(lease->node, LOG_WARNING, "guard expired after %s: %s",
		 clock_text(ttl, lease->ttl_usec), lease_text(text, lease));
	trace_guard_end(lease->node->trace, lease->id, "expired");
	lease_lose(lease, LEASE_EXPIRED);
}

static enum lease_refusal lease_find_refusal(struct node *node, const struct lease_wish *wish)
{
	const struct lease_user *user = lease_find_user(node->ctx, wish->peer->uid);

	/* A Complete node cannot be held up any more, and the kill phase must not be prolonged. */
	if (node_is_stopped(node) &&
	    (!wish->late || swansong_state(node->work) == SWANSONG_COMPLETE ||
	     clock_now_usec() >= node->kill_usec))
		return LEASE_STOPPED;
	if (user && user->n >= LEASES_PER_USER)
		return LEASE_USER_FULL;
	return node->ctx->guards.n_leases >= LEASES_MAX ? LEASE_FULL : LEASE_TAKEN;
}

void lease_keep_budget(struct node *node)
{
	struct lease *lease;

	if (node->kill_usec == USEC_INFINITY)
		return;
	list_for_each (lease, &node->leases, of_node) {
		if (lease->generation != node->generation)
			continue;
		lease->limit_usec = node->kill_usec;
		alarm_set(&node->ctx->alarms, &lease->expiry,
			  MIN(lease->until_usec, lease->limit_usec));
	}
}

DEFINE_CLEANUP(struct lease *, lease_free)

int lease_new(struct lease **ret, struct node *node, const struct lease_wish *wish)
{
	const struct roster_row *former = wish->former;
	enum lease_refusal refused = former ? LEASE_TAKEN : lease_find_refusal(node, wish);
	cleanup(lease_freep) struct lease *lease = NULL;
	struct proc_info info;

	if (refused)
		return (int)refused;
	lease = calloc(1, sizeof(*lease));
	if (!lease)
		return -ENOMEM;
	list_init(&lease->of_node);
	list_init(&lease->of_holder);
	lease->since_usec = clock_now_usec();
	lease->limit_usec = USEC_INFINITY;
	(void)snprintf(lease->why, sizeof(lease->why), "%s", wish->why);
	if (wish->peer->pid > 0 && proc_read(wish->peer->pid, &info) == 0)
		(void)snprintf(lease->command, sizeof(lease->command), "%s", info.name);
	lease->ttl_usec = wish->ttl_usec;
	lease->until_usec = clock_add(lease->since_usec, wish->ttl_usec);
	if (former) {
		lease->since_usec = MIN(former->detail[1], lease->since_usec);
		lease->until_usec = former->detail[2];
	}
	alarm_init(&lease->expiry, lease_on_expiry);
	lease->user = lease_make_user(node->ctx, wish->peer->uid);
	if (!lease->user)
		return -ENOMEM;
	/* From here on nothing can fail. */
	lease->node = node;
	lease->guard = swansong_guard(node->work);
	lease->id = ++node->ctx->last_id;
	lease->generation = node->generation;
	lease->peer = *wish->peer;
	lease->user->n++;
	node->ctx->guards.n_leases++;
	list_append(&node->leases, &lease->of_node);
	traces_expect(&node->ctx->traces, 1);
	alarm_set(&node->ctx->alarms, &lease->expiry, lease->until_usec);
	node_guards_changed(node);
	if (former)
		lease->id = former->detail[0];
	*ret = take(lease);
	return 0;
}

/* --- over a fault --- */

#define FOLLOWED (UINT64_C(1) << 63)

void lease_enter(struct lease *lease, enum roster_kind kind, int fd, bool followed)
{
	struct roster_row row = roster_row(kind, fd, node_name(lease->node), lease->why);

	row.detail[0] = lease->id;
	row.detail[1] = lease->since_usec;
	row.detail[2] = lease->until_usec;
	row.detail[3] = lease->ttl_usec;
	row.detail[4] = (uint64_t)lease->peer.pid | (followed ? FOLLOWED : 0);
	row.detail[5] = lease->peer.uid;
	roster_write(lease->node->ctx->roster, &lease->place, &row);
}

struct lease_wish lease_former_wish(const struct roster_row *row, struct ucred *peer)
{
	*peer = (struct ucred){ .pid = (pid_t)(row->detail[4] & INT32_MAX),
				.uid = (uid_t)row->detail[5] };
	return (struct lease_wish){
		.peer = peer,
		.why = row->name,
		.ttl_usec = row->detail[3],
		.former = row,
		.followed = row->detail[4] & FOLLOWED,
	};
}

void lease_keep_ids(struct context *ctx)
{
	const struct roster_row *row;

	for (enum roster_kind kind = ROSTER_LEASE; kind <= ROSTER_LEASE_FD; kind++)
		for (size_t at = 0; (row = roster_next(ctx->roster, kind, &at));)
			ctx->last_id = MAX(ctx->last_id, row->detail[0]);
}

struct lease *lease_free(struct lease *lease)
{
	if (!lease)
		return NULL;
	lease_release(lease);
	list_remove(&lease->of_holder);
	return free_memory(lease);
}

bool lease_is_stopped(const struct lease *lease)
{
	return lease->node &&
	       (lease->generation != lease->node->generation || node_is_stopped(lease->node));
}

uint64_t lease_kill_time(const struct lease *lease)
{
	const struct node *node = lease->node;

	if (lease->generation != node->generation)
		return lease->limit_usec;
	return node->complete ? USEC_INFINITY : node->kill_usec;
}
