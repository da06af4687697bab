#include "daemon/lease.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/trace.h"
#include "sys/proc.h"

/* One for each user who holds any; there are few. */
struct lease_user {
	struct list in_context;
	uid_t uid;
	unsigned n;
};

static struct lease_user *find_user(struct context *ctx, uid_t uid)
{
	struct lease_user *user;

	list_for_each (user, &ctx->lease_users, in_context)
		if (user->uid == uid)
			return user;
	return NULL;
}

/* NULL without memory. */
static struct lease_user *make_user(struct context *ctx, uid_t uid)
{
	struct lease_user *user = find_user(ctx, uid);

	if (user)
		return user;
	user = malloc(sizeof(*user));
	if (!user)
		return NULL;
	*user = (struct lease_user){ .uid = uid };
	list_init(&user->in_context);
	list_append(&ctx->lease_users, &user->in_context);
	return user;
}

static void drop_unused(struct lease_user *user)
{
	if (user->n > 0)
		return;
	list_remove(&user->in_context);
	free(user);
}

static void release(struct lease *lease)
{
	struct node *node = lease->node;

	if (!node)
		return;
	lease->node = NULL;
	list_remove(&lease->of_node);
	lease->expiry = sd_event_source_disable_unref(lease->expiry);
	node->ctx->n_leases--;
	lease->user->n--;
	drop_unused(lease->user);
	traces_expect(&node->ctx->traces, -1);
	node_guards_changed(node);
	if (node->retired)
		node_follow_up(node);
	swansong_guard_drop(&lease->guard);
}

void lease_lose(struct lease *lease, enum lease_end how)
{
	release(lease);
	if (lease->lost)
		lease->lost(lease, how, lease->arg);
}

void lease_lose_all(struct node *node)
{
	while (!list_is_empty(&node->leases))
		lease_lose(list_entry(node->leases.next, struct lease, of_node), LEASE_REVOKED);
}

void lease_note_loss(const struct lease *lease)
{
	char text[LEASE_TEXT_MAX], age[CLOCK_TEXT_MAX];

	losses_add(lease->node->ctx->losses, lease->node->config->path,
		   "revoked, after %s, the guard of %s",
		   clock_text(age, clock_now_usec() - lease->since_usec), lease_text(text, lease));
}

static void take_back(struct lease *lease)
{
	uint64_t now = clock_now_usec();
	char text[LEASE_TEXT_MAX];

	log_line(lease->node->ctx->log, LOG_WARNING,
		 "%s: revoking the guard of %s: that stop's budget is spent",
		 node_name(lease->node), lease_text(text, lease));
	lease_note_loss(lease);
	/* Of a stop that is over for the node: none of the present generation is late. */
	for (struct node *n = lease->node; n; n = n->parent)
		n->forced_usec = now;
	trace_guard_end(lease->node->trace, lease->id, "revoked");
	lease_lose(lease, LEASE_REVOKED);
}

static int on_expiry(sd_event_source *source, uint64_t usec, void *arg)
{
	struct lease *lease = arg;
	char text[LEASE_TEXT_MAX], ttl[CLOCK_TEXT_MAX];

	(void)source;
	(void)usec;
	if (lease->limit_usec < lease->until_usec) {
		take_back(lease);
		return 0;
	}
	log_line(lease->node->ctx->log, LOG_WARNING, "%s: after %s the guard has expired of %s",
		 node_name(lease->node), clock_text(ttl, lease->ttl_usec), lease_text(text, lease));
	trace_guard_end(lease->node->trace, lease->id, "expired");
	lease_lose(lease, LEASE_EXPIRED);
	return 0;
}

/* Nothing that is complete is held up any more, and nothing beyond its budget. */
static bool is_refused(const struct node *node, bool late)
{
	return node_is_stopped(node) && (!late || swansong_state(node->work) == SWANSONG_COMPLETE ||
					 clock_now_usec() >= node->kill_usec);
}

static enum lease_refusal refusal(struct node *node, const struct lease_wish *wish)
{
	const struct lease_user *user = find_user(node->ctx, wish->peer->uid);

	if (is_refused(node, wish->late))
		return LEASE_STOPPED;
	if (user && user->n >= LEASES_PER_USER)
		return LEASE_USER_FULL;
	return node->ctx->n_leases >= LEASES_MAX ? LEASE_FULL : LEASE_TAKEN;
}

static int watch_expiry(struct lease *lease, struct context *ctx, uint64_t ttl_usec)
{
	lease->ttl_usec = ttl_usec;
	lease->until_usec = clock_add(lease->since_usec, ttl_usec);
	if (lease->until_usec == USEC_INFINITY)
		return 0;
	return sd_event_add_time(ctx->event, &lease->expiry, CLOCK_MONOTONIC, lease->until_usec, 1,
				 on_expiry, lease);
}

static int watch_limit(struct lease *lease, uint64_t limit_usec)
{
	uint64_t usec = MIN(lease->until_usec, limit_usec);
	int r;

	if (lease->expiry)
		r = sd_event_source_set_time(lease->expiry, usec);
	else
		r = sd_event_add_time(lease->node->ctx->event, &lease->expiry, CLOCK_MONOTONIC,
				      usec, 1, on_expiry, lease);
	if (r < 0)
		return r;
	lease->limit_usec = limit_usec;
	return 0;
}

int lease_keep_budget(struct node *node)
{
	struct lease *lease;
	int r = 0;

	if (node->kill_usec == USEC_INFINITY)
		return 0;
	list_for_each (lease, &node->leases, of_node)
		if (r == 0 && lease->generation == node->generation)
			r = watch_limit(lease, node->kill_usec);
	return r;
}

/* From here on nothing can fail. */
static void take_guard(struct lease *lease, struct node *node, const struct unix_peer *peer)
{
	lease->node = node;
	lease->guard = swansong_guard(node->work);
	lease->id = ++node->ctx->last_id;
	lease->generation = node->generation;
	lease->peer = *peer;
	lease->user->n++;
	node->ctx->n_leases++;
	list_append(&node->leases, &lease->of_node);
	traces_expect(&node->ctx->traces, 1);
	node_guards_changed(node);
}

DEFINE_CLEANUP(struct lease *, lease_free)

int lease_new(struct lease **ret, struct node *node, const struct lease_wish *wish)
{
	enum lease_refusal refused = refusal(node, wish);
	cleanup(lease_freep) struct lease *lease = NULL;
	struct proc_info info;
	int r;

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
	r = watch_expiry(lease, node->ctx, wish->ttl_usec);
	if (r < 0)
		return r;
	lease->user = make_user(node->ctx, wish->peer->uid);
	if (!lease->user)
		return -ENOMEM;
	take_guard(lease, node, wish->peer);
	*ret = take(lease);
	return 0;
}

struct lease *lease_free(struct lease *lease)
{
	if (!lease)
		return NULL;
	release(lease);
	list_remove(&lease->of_holder);
	sd_event_source_disable_unref(lease->expiry);
	free(lease);
	return NULL;
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

char *lease_text(char buf[static LEASE_TEXT_MAX], const struct lease *lease)
{
	(void)snprintf(buf, LEASE_TEXT_MAX, "pid %d (%s)%s%s", (int)lease->peer.pid, lease->command,
		       *lease->why ? ": " : "", lease->why);
	return buf;
}
