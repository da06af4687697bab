#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/attach.h"
#include "daemon/describe.h"
#include "daemon/requests-private.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"
#include "daemon/sweep.h"

/* Looking at nodes, starting and stopping them. */

void request_status(struct request *q, struct node *node, const struct message_call *call)
{
	struct describe_walk walk;

	(void)call;
	describe_begin(&walk, node);
	connection_reply_list(q->connection, "nodes", describe_next, &walk);
}

void request_overview(struct request *q, struct node *node, const struct message_call *call)
{
	(void)call;
	connection_reply_object(q->connection, "nodes", describe_columns, node);
}

void request_guards(struct request *q, struct node *node, const struct message_call *call)
{
	uint64_t now = clock_now_usec();

	(void)strcpy(q->path, node->config->path);
	q->blocking = message_get_bool(call->parameters, "blocking", false);
	q->waiting = true;
	q->begun_usec = now;
	attach_ask(node, now);
	context_arm(q->tree->ctx, q->progress, now + ATTACH_ANSWER_USEC);
	request_settle_reports(q, node);
}

void request_settle_reports(struct request *q, struct node *node)
{
	uint64_t now = clock_now_usec();

	/* Others may ask again, and are not to make this one wait longer. */
	if (now < q->begun_usec + ATTACH_ANSWER_USEC && attach_is_awaited(node, now))
		return;
	sweep_look(q->tree->ctx->children);
	request_reply(q, json_pack("{s:o}", "guards", describe_guards(node, q->blocking)));
}

void request_start(struct request *q, struct node *node, const struct message_call *call)
{
	int r = node_is_stopped(q->tree->root) ? -ESHUTDOWN : starting_begin(node);

	if (r == -ESHUTDOWN) {
		const struct node *stopped = node;

		while (stopped->parent && node_is_stopped(stopped->parent))
			stopped = stopped->parent;
		request_fail(q, ERROR_NODE_STOPPED, node_name(stopped), NULL);
	} else if (r < 0) {
		request_fail(q, ERROR_FAILED, node_name(node), strerror(-r));
	} else {
		request_wait_or_return(q, node, call);
	}
}

void request_stop(struct request *q, struct node *node, const struct message_call *call)
{
	char why[REQUEST_REASON_MAX];

	shutdown_stop(q->tree, node, request_reason(q, call, why));
	request_note_stop(q, node, call);
	request_wait_or_return(q, node, call);
}

void request_restart(struct request *q, struct node *node, const struct message_call *call)
{
	char why[REQUEST_REASON_MAX];

	if (node == q->tree->root) {
		request_fail(q, ERROR_FAILED, node_name(node), "the root cannot be restarted");
		return;
	}
	if (node_is_stopped(node->parent)) {
		request_fail(q, ERROR_NODE_STOPPED, node_name(node->parent), NULL);
		return;
	}
	starting_forget(node);
	shutdown_bring_back(node);
	shutdown_restart(q->tree, node, request_reason(q, call, why));
	request_note_stop(q, node, call);
	request_wait_or_return(q, node, call);
}

void request_shutdown(struct request *q, struct node *node, const struct message_call *call)
{
	char why[REQUEST_REASON_MAX];

	shutdown_stop(q->tree, node, request_reason(q, call, why));
	request_note_stop(q, node, call);
	if (message_get_bool(call->parameters, "force", false))
		shutdown_force(node);
	if (message_get_bool(call->parameters, "wait", true)) {
		request_begin_wait(q, node, call);
		return;
	}
	q->begun_usec = clock_now_usec();
	connection_reply(q->connection, request_progress(q, node), false);
}

void request_wait(struct request *q, struct node *node, const struct message_call *call)
{
	const char *until = message_get_string(call->parameters, "until", "complete");

	(void)snprintf(q->until, sizeof(q->until), "%s", until);
	request_begin_wait(q, node, call);
}
