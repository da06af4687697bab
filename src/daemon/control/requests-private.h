#pragma once

/* Functions that the methods of io.swansong share; for the files requests*.c only. */

#include "daemon/control/requests.h"

/*
 * A method replies to its call or begins to wait.  @node exists, and the client may make the call.
 */
typedef void request_method(struct request *q, struct node *node, const struct message_call *call);

/*
 * Looks at a waiting call, in every update turn until its reply.  @node is NULL if the node of the call is
 * freed; calls that need it have failed then.
 */
typedef void request_update_method(struct request *q, struct node *node);

/* All of them; a row without its function is an error of the linker. */
#define METHOD(id, name, tier, whole, call, update, ...) \
	request_method call;                             \
	request_update_method update;
#include "proto/interface/methods.h"

/* Ends the call, and its wait, with a reply. */
void request_reply(struct request *q, json_t *parameters);
void request_succeed(struct request *q);
void request_fail(struct request *q, enum interface_error error, const char *node,
		  const char *reason);
void request_end_wait(struct request *q);

/* Returns the node that the client means, or NULL. */
struct node *request_find(const struct request *q, const char *path);
void request_fail_unknown(struct request *q, const char *path);

/* Returns the reason why the client may not use the node at @path, or NULL. */
const char *request_denial(const struct request *q, const char *path);

/* Begins to wait as the method requires; with wait: false, replies at once. */
void request_begin_wait(struct request *q, const struct node *node,
			const struct message_call *call);
/* Adds the dependents that were stopped with the node to @reply. */
void request_add_dependents(const struct request *q, json_t *reply);

void request_wait_or_return(struct request *q, const struct node *node,
			    const struct message_call *call);

/*
 * Notes that this connection has requested a stop of @node.  Replies about its end have the forced
 * kills from then on.
 */
void request_note_stop(struct request *q, const struct node *node, const struct message_call *call);

/* Adds the forced kills to @reply, for q->path: @node, or NULL if that is freed. */
void request_add_forced_kills(const struct request *q, const struct node *node, json_t *reply);
void request_succeed_stop(struct request *q, const struct node *node);
void request_fail_stop(struct request *q, const struct node *node, const struct node *failed,
		       const char *reason);

/*
 * Handles a call for @path, which is no node any more: if this connection has stopped the node and
 * the call waits for its end, sends the reply and returns true.
 */
bool request_reply_passed(struct request *q, const char *path, const struct message_call *call);

/* Returns true if the state @until is reached by a node that has gone. */
bool request_is_implied_by_the_end(const char *until);

/*
 * Returns true if the client may be sent progress now: it has read the last one, which was sent
 * some time ago.
 */
bool request_takes_progress(struct request *q);
json_t *request_progress(struct request *q, struct node *node);

/* The call fails: the change of the state file for @name has had @error; ENOENT: there is no such file. */
void request_fail_enable(struct request *q, const char *name, int error);

/* METHOD_RUN: the users were looked up. */
void request_on_asked(struct closer *closer);

/* Returns the service of @node if it has a running process; otherwise the call has failed. */
struct service *request_find_running_service(struct request *q, struct node *node);

/* Returns the client and its reason, for the log, in @buf. */
#define REQUEST_REASON_MAX 200
const char *request_reason(struct request *q, const struct message_call *call,
			   char buf[static REQUEST_REASON_MAX]);

/* Returns the process that holds the guards of this request. */
struct ucred request_holder(const struct request *q);

/* Releases the guards of the connection, which is over. */
void request_drop_guards(struct request *q);
