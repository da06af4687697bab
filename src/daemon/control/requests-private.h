#pragma once

/* What the methods of io.swansong share; for the requests*.c only. */

#include "daemon/control/requests.h"

/* Each answers its call, or begins to wait.  @node is there, and who asks may ask for this. */
typedef void request_method(struct request *q, struct node *node, const struct message_call *call);

request_method request_status, request_guards, request_start, request_stop, request_restart,
	request_shutdown, request_wait, request_take_guard, request_release, request_reload,
	request_reload_service, request_signal, request_events, request_run, request_plan,
	request_logs, request_reopen_logs;

/* Ends the call, and the wait if there is one. */
void request_reply(struct request *q, json_t *parameters);
void request_succeed(struct request *q);
void request_fail(struct request *q, enum interface_error error, const char *node,
		  const char *reason);
void request_end_wait(struct request *q);

/* The node that the client means, or NULL. */
struct node *request_find(const struct request *q, const char *path);
void request_fail_unknown(struct request *q, const char *path);

/* Why the client may not ask for the node at @path, or NULL. */
const char *request_denial(const struct request *q, const char *path);

/* Waits for what the method is about, from now on; with wait: false, is done at once. */
void request_begin_wait(struct request *q, const struct node *node,
			const struct message_call *call);
/* Adds the dependents that were stopped with the node to @reply. */
void request_add_dependents(const struct request *q, json_t *reply);

void request_wait_or_return(struct request *q, const struct node *node,
			    const struct message_call *call);

/*
 * This connection has just asked for a stop of @node: from then on, the replies that tell of its
 * end tell what was killed or revoked for it.
 */
void request_note_stop(struct request *q, const struct node *node, const struct message_call *call);

/* ... which is added to @reply, that of q->path: @node, or NULL if that is gone. */
void request_add_forced_kills(const struct request *q, const struct node *node, json_t *reply);
void request_succeed_stop(struct request *q, const struct node *node);
void request_fail_stop(struct request *q, const struct node *node, const struct node *failed,
		       const char *reason);

/*
 * @path is no node.  Is the call for the end of one that this connection has had stopped, and that
 * is gone with it?  Then it is answered.
 */
bool request_settle_passed(struct request *q, const char *path, const struct message_call *call);

/* A node that is gone has been stopped before. */
bool request_is_implied_by_the_end(const char *until);

/* How far the shutdown of @node is. */
json_t *request_progress(struct request *q, struct node *node);

/* For the log: who asked, and why if he said so.  Returns @buf. */
#define REQUEST_REASON_MAX 200
const char *request_reason(struct request *q, const struct message_call *call,
			   char buf[static REQUEST_REASON_MAX]);

/* Who holds what is taken. */
struct unix_peer request_holder(const struct request *q);

/*
 * The settle functions of the methods that wait.  @node is that of the call; NULL: it is not there
 * any more.
 */
void request_settle_ready(struct request *q, struct node *node);
void request_settle_stop(struct request *q, struct node *node);
void request_settle_shutdown(struct request *q, struct node *node);
void request_settle_wait(struct request *q, struct node *node);
void request_settle_reports(struct request *q, struct node *node);
void request_settle_run(struct request *q, struct node *node);
void request_settle_logs(struct request *q, struct node *node);
void request_settle_events(struct request *q, struct node *node);
void request_settle_guard(struct request *q, struct node *node);

/* The connection is over: its guards are dropped. */
void request_drop_guards(struct request *q);
