/*
 * Guards that last as long as a connection, or less.
 *
 * A call with `more` is its guard and goes on until the guard is lost.  All others get their reply
 * at once, and later losses of their guards show only by the end of the connection.
 */

#include "daemon/control/requests-private.h"
#include "daemon/reload/use.h"

/* Refused oneway calls are logged up to this number for each connection. */
#define REFUSALS_LOGGED 10

static void request_forget_lease(struct request *q, struct lease *lease)
{
	if (q->followed == lease)
		q->followed = NULL;
	q->n_leases--;
	lease_free(lease);
}

void request_drop_guards(struct request *q)
{
	while (!list_is_empty(&q->leases))
		request_forget_lease(q, list_entry(q->leases.next, struct lease, of_holder));
}

static void request_on_lease_lost(struct lease *lease, enum lease_end how, void *arg)
{
	struct request *q = arg;

	if (q->followed == lease)
		request_reply(q, json_pack("{s:I, s:s}", "id", (json_int_t)lease->id, "lost",
					   how == LEASE_EXPIRED ? "expired" : "revoked"));
	else if (how == LEASE_REVOKED && !q->connection->inherited)
		connection_close_soon(q->connection);
	request_forget_lease(q, lease);
}

void request_update_guard(struct request *q, struct node *node)
{
	if (q->stop_sent || !lease_is_stopped(q->followed))
		return;
	q->stop_sent = true;
	connection_reply(q->connection,
			 json_pack("{s:I, s:b}", "id", (json_int_t)q->followed->id, "stopping", 1),
			 true);
}

static void request_add_lease(struct request *q, struct lease *lease, bool followed)
{
	lease->lost = request_on_lease_lost;
	lease->arg = q;
	list_append(&q->leases, &lease->of_holder);
	q->n_leases++;
	lease_enter(lease, ROSTER_LEASE, q->connection->fd, followed);
	if (!followed)
		return;
	q->followed = lease;
	q->stop_sent = false;
	q->waiting = true;
}

static void request_refuse_guard(struct request *q, struct node *node, enum interface_error error,
				 const char *why)
{
	/* A oneway call gets no reply, so its refusal is logged. */
	if (q->connection->oneway && ++q->refused <= REFUSALS_LOGGED)
		node_log(node, LOG_WARNING, "a guard is refused to pid %d: %s%s",
			 (int)q->connection->peer.pid, why,
			 q->refused == REFUSALS_LOGGED ? "; further refusals are not logged" : "");
	request_fail(q, error, node_name(node), why);
}

static void request_refuse_lease(struct request *q, struct node *node, int r)
{
	char why[64];

	switch (r) {
	case LEASE_STOPPED:
		request_refuse_guard(q, node, ERROR_NODE_STOPPED, "the node is stopped");
		break;
	case LEASE_USER_FULL:
		(void)snprintf(why, sizeof(why), "user %u holds %u guards", q->connection->peer.uid,
			       LEASES_PER_USER);
		request_refuse_guard(q, node, ERROR_TOO_MANY, why);
		break;
	case LEASE_FULL:
		(void)snprintf(why, sizeof(why), "%u guards are held", LEASES_MAX);
		request_refuse_guard(q, node, ERROR_TOO_MANY, why);
		break;
	default:
		request_refuse_guard(q, node, ERROR_FAILED, strerror(-r));
		break;
	}
}

/* Takes the guard on @node, or with the parameter using on the node for guards that use it. */
static void request_take_lease(struct request *q, struct node *node, const struct lease_wish *wish,
			       const struct message_call *call)
{
	bool using = message_get_bool(call->parameters, "using", false);
	struct node *held = node;
	struct lease *lease;
	int r = using ? use_find(q->tree, node, &held) : 0;

	if (r != 0) {
		request_refuse_guard(q, node, r == USE_STOPPED ? ERROR_NODE_STOPPED : ERROR_FAILED,
				     use_refusal_text(r));
		return;
	}
	r = lease_new(&lease, held, wish);
	if (r == 0) {
		json_t *reply = json_pack("{s:I}", "id", (json_int_t)lease->id);
		bool followed = call->more && !call->oneway;

		request_add_lease(q, lease, followed);
		if (followed)
			connection_reply(q->connection, reply, true);
		else
			request_reply(q, reply);
	} else {
		request_refuse_lease(q, node_is_stopped(node) ? node : held, r);
	}
	if (r != 0 && using)
		node_add_task(held, TASK_TRANSIENT);
}

void request_take_guard(struct request *q, struct node *node, const struct message_call *call)
{
	const struct ucred peer = request_holder(q);
	const struct lease_wish wish = {
		.peer = &peer,
		.why = message_get_text(call->parameters, "why"),
		.ttl_usec = message_get_number(call->parameters, "ttl_usec", USEC_INFINITY),
		.late = message_get_bool(call->parameters, "late", false),
	};

	if (strlen(wish.why) > LEASE_WHY_MAX) {
		request_refuse_guard(q, node, ERROR_FAILED, "the reason is longer than 200 bytes");
	} else if (wish.ttl_usec == 0) {
		request_refuse_guard(q, node, ERROR_FAILED,
				     "invalid ttl 0: expected microseconds above 0");
	} else if (q->n_leases >= REQUEST_LEASES_MAX) {
		request_refuse_guard(q, node, ERROR_TOO_MANY, "this connection holds 256 guards");
	} else {
		request_take_lease(q, node, &wish, call);
	}
}

void request_release(struct request *q, struct node *node, const struct message_call *call)
{
	const char *why = message_get_string(call->parameters, "why", NULL);
	uint64_t id = message_get_number(call->parameters, "id", UINT64_MAX);
	unsigned before = q->n_leases;
	struct lease *lease, *next;

	if (!why && id == UINT64_MAX) {
		request_fail(q, ERROR_FAILED, NULL, "no guard named: expected id or why");
		return;
	}
	list_for_each_safe (lease, next, &q->leases, of_holder)
		if ((id == UINT64_MAX || lease->id == id) && (!why || strcmp(lease->why, why) == 0))
			request_forget_lease(q, lease);
	if (q->n_leases < before)
		request_succeed(q);
	else
		request_fail(q, ERROR_FAILED, NULL, "this connection holds no such guard");
}

/* --- in the next image --- */

static void request_take_former_lease(struct request *q, const struct roster_row *row)
{
	struct node *node = use_find_former(q->tree, row->path);
	struct ucred peer;
	const struct lease_wish wish = lease_former_wish(row, &peer);
	struct lease *lease;

	if (!node || q->n_leases >= REQUEST_LEASES_MAX || lease_new(&lease, node, &wish) != 0)
		return;
	q->method = METHOD_TAKE_GUARD;
	request_add_lease(q, lease, wish.followed);
}

bool request_take_former(struct request *q, int fd)
{
	const struct roster_row *row;

	for (size_t at = 0; (row = roster_next(q->tree->ctx->roster, ROSTER_LEASE, &at));)
		if (row->number == fd)
			request_take_former_lease(q, row);
	if (q->connection->busy && q->connection->method == METHOD_UPGRADE) {
		q->method = METHOD_UPGRADE;
		q->waiting = true;
	}
	return q->followed || q->waiting;
}
