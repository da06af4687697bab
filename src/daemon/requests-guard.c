#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/requests-private.h"

/* Guards that are held as long as a connection lasts. */

struct request_lease {
	struct list of_request;
	struct lease *lease;
};

void request_drop_guards(struct request *q)
{
	while (!list_is_empty(&q->leases)) {
		struct request_lease *l =
			list_entry(q->leases.next, struct request_lease, of_request);

		list_remove(&l->of_request);
		lease_free(l->lease);
		free(l);
	}
}

/* The guard is gone by force: the holder hears of it by the end of its connection. */
static void on_revoked(struct lease *lease, void *arg)
{
	struct request *q = arg;

	(void)lease;
	connection_close_soon(q->connection);
}

static int take_guard(struct request *q, struct node *node, const char *why, uint64_t *id)
{
	struct request_lease *l = malloc(sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	r = lease_new(&l->lease, node, &q->connection->peer, why);
	if (r < 0) {
		free(l);
		return r;
	}
	l->lease->on_revoked = on_revoked;
	l->lease->arg = q;
	list_init(&l->of_request);
	list_append(&q->leases, &l->of_request);
	q->n_leases++;
	*id = l->lease->id;
	return 0;
}

void request_take_guard(struct request *q, struct node *node, const struct message_call *call)
{
	const char *why = message_get_string(call->parameters, "why", "");
	bool late = message_get_bool(call->parameters, "late", false);
	uint64_t id;

	if (strlen(why) > LEASE_WHY_MAX) {
		request_fail(q, ERROR_FAILED, node_name(node),
			     "the reason is longer than 200 bytes");
	} else if (node_is_stopped(node) &&
		   (!late || node->complete || clock_now_usec() >= node->kill_usec)) {
		request_fail(q, ERROR_NODE_STOPPED, node_name(node), NULL);
	} else if (q->n_leases >= REQUEST_LEASES_MAX) {
		request_fail(q, ERROR_TOO_MANY, NULL, "this connection holds 256 guards");
	} else if (take_guard(q, node, why, &id) < 0) {
		request_fail(q, ERROR_FAILED, node_name(node), "out of memory");
	} else {
		connection_reply(q->connection, json_pack("{s:I}", "id", (json_int_t)id), false);
	}
}
