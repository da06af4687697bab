/*
 * The call to the daemon does not wait for the end of the action, so the reply comes at once; the events show
 * the result.  A client that goes away is not noticed while its connection is suspended, which the time limit
 * of the call bounds.
 */
#include "exporter/http/action.h"

#include <strings.h>

#include "exporter/limits/client.h"
#include "exporter/http/reply.h"
#include "proto/call.h"

struct action {
	struct actions *actions;
	struct MHD_Connection *connection;
	struct list in_actions;
	struct call *call; /* the call to the daemon; NULL: not begun yet, or answered */
	unsigned status;   /* of the reply; 0: there is none yet */
	char *fault;	   /* of the reply; NULL: done */
	size_t n;	   /* of the body, of which ACTION_BODY_MAX bytes are kept */
	char body[ACTION_BODY_MAX];
};

/* --- the body --- */

json_t *action_parse(const char *text, size_t size, enum interface_method *ret_method,
		     const char **ret_fault)
{
	static const struct {
		const char *name;
		enum interface_method method;
		const char *more; /* of the parameters */
	} names[] = {
		{ "start", METHOD_START, "{}" },
		{ "stop", METHOD_STOP, "{}" },
		{ "restart", METHOD_RESTART, "{}" },
		{ "shutdown", METHOD_SHUTDOWN, "{}" },
		{ "extend", METHOD_SHUTDOWN, "{\"extend_usec\": 300000000}" },
		{ "hold", METHOD_SHUTDOWN, "{\"hold\": true}" },
		{ "release", METHOD_SHUTDOWN, "{\"hold\": false}" },
	};
	json_t *body = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL), *parameters = NULL;
	const char *name = json_string_value(json_object_get(body, "action"));
	json_t *node = json_object_get(body, "node");

	*ret_fault = "expected a body like {\"action\":\"restart\",\"node\":\"web/app\"}";
	if (name && json_is_string(node))
		*ret_fault = "unknown action: expected start, stop, restart, shutdown, extend, hold or release";
	for (size_t i = 0; name && json_is_string(node) && i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i].name, name) != 0)
			continue;
		*ret_method = names[i].method;
		*ret_fault = "out of memory";
		parameters = json_pack("{s:O, s:b}", "node", node, "wait", 0);
		if (json_object_update_new(parameters, json_loads(names[i].more, 0, NULL)) < 0) {
			json_decref(parameters);
			parameters = NULL;
		}
	}
	json_decref(body);
	return parameters;
}

void action_take(struct action *action, const char *data, size_t size)
{
	if (action->n < ACTION_BODY_MAX)
		memcpy(action->body + action->n, data, MIN(size, ACTION_BODY_MAX - action->n));
	action->n = MIN(action->n + size, (size_t)ACTION_BODY_MAX + 1);
}

/* --- the answer --- */

/* Takes no reply after the first one. */
static void action_answer(struct action *action, unsigned status, const char *fault)
{
	if (action->status)
		return;
	action->status = status;
	action->fault = fault ? strdup(fault) : NULL;
	if (!action->call)
		return;
	action->call = call_free(action->call);
	list_remove(&action->in_actions);
	action->actions->n--;
	MHD_resume_connection(action->connection);
	action->actions->owner.resumed(action->actions->owner.arg);
}

static void action_refused(struct action *action, const struct message_reply *reply)
{
	static const struct {
		unsigned status;
		const char *text; /* NULL: the reason that the daemon gives */
	} rows[N_ERRORS] = {
		[ERROR_NO_SUCH_NODE] = { MHD_HTTP_NOT_FOUND, "no such node" },
		[ERROR_NODE_STOPPED] = { MHD_HTTP_CONFLICT,
					 "the node is stopped: nothing is started on it" },
		[ERROR_NOT_PERMITTED] = { MHD_HTTP_FORBIDDEN, NULL },
		[ERROR_FAILED] = { MHD_HTTP_CONFLICT, NULL },
		[ERROR_TOO_MANY] = { MHD_HTTP_SERVICE_UNAVAILABLE, NULL },
	};
	enum interface_error error;

	if (interface_error_find(reply->error, &error) < 0)
		action_answer(action, MHD_HTTP_BAD_GATEWAY, reply->error);
	else
		action_answer(action, rows[error].status,
			      rows[error].text ? rows[error].text
					       : message_get_text(reply->parameters, "reason"));
}

static bool action_take_reply(const struct message_reply *reply, int r, void *arg)
{
	struct action *action = arg;

	if (r == -ETIMEDOUT)
		action_answer(action, MHD_HTTP_GATEWAY_TIMEOUT, "the daemon does not answer");
	else if (r < 0)
		action_answer(action, MHD_HTTP_BAD_GATEWAY,
			      "the connection to the daemon was lost");
	else if (reply->error)
		action_refused(action, reply);
	else
		action_answer(action, MHD_HTTP_OK, NULL);
	return false;
}

static void action_ask(struct action *action, enum interface_method method, json_t *parameters)
{
	const struct actions_owner *owner = &action->actions->owner;
	const struct call_owner call_owner = { action_take_reply, action };
	char client[CLIENT_TEXT_MAX];
	int r;

	log_node(owner->log, LOG_NOTICE, message_get_text(parameters, "node"), "%s asks for %s",
		 client_text(client, action->connection), interface_method_name(method));
	r = call_new(&action->call, owner->event, owner->socket, method, parameters, 0, ACTION_USEC,
		     &call_owner);
	if (r < 0) {
		action_answer(action, MHD_HTTP_BAD_GATEWAY, strerror(-r));
		return;
	}
	list_append(&action->actions->list, &action->in_actions);
	action->actions->n++;
	MHD_suspend_connection(action->connection);
}

static void action_begin(struct action *action)
{
	enum interface_method method;
	const char *fault;
	json_t *parameters;

	if (action->n > ACTION_BODY_MAX) {
		action_answer(action, MHD_HTTP_CONTENT_TOO_LARGE,
			      "the body is longer than " STRINGIFY(ACTION_BODY_MAX) " bytes");
		return;
	}
	if (action->actions->n >= ACTIONS_MAX || action->actions->closed) {
		action_answer(action, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "too many actions wait for the daemon");
		return;
	}
	parameters = action_parse(action->body, action->n, &method, &fault);
	if (parameters)
		action_ask(action, method, parameters);
	else
		action_answer(action, MHD_HTTP_BAD_REQUEST, fault);
}

struct MHD_Response *action_respond(struct action *action, unsigned *ret_status)
{
	if (!action->status && !action->call)
		action_begin(action);
	*ret_status = action->status;
	if (!action->status)
		return NULL;
	if (action->status == MHD_HTTP_OK)
		return reply_json(json_pack("{s:b}", "ok", 1));
	return reply_error(ret_status, action->status,
			   action->fault ? action->fault : "out of memory");
}

/* --- requests --- */

static bool action_is_json(const char *type)
{
	static const char json[] = "application/json";

	return type && strncasecmp(type, json, strlen(json)) == 0 &&
	       (!type[strlen(json)] || strchr("; \t", type[strlen(json)]));
}

/* A form of another site can send neither the header nor this type. */
static struct MHD_Response *action_refuse(const struct actions *actions,
					  struct MHD_Connection *connection, unsigned *ret_status)
{
	const char *length = client_header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
	struct MHD_Response *response;
	char client[CLIENT_TEXT_MAX];

	if (!actions->owner.token)
		return reply_error(ret_status, MHD_HTTP_FORBIDDEN,
				   "the exporter was started without --actions");
	if (!token_allows(actions->owner.token,
			  client_header(connection, MHD_HTTP_HEADER_AUTHORIZATION),
			  client_text(client, connection))) {
		response = reply_error(ret_status, MHD_HTTP_UNAUTHORIZED,
				       "expected the header Authorization: Bearer TOKEN, with the "
				       "token of the exporter");
		if (response)
			(void)MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
						      "Bearer");
		return response;
	}
	if (!action_is_json(client_header(connection, MHD_HTTP_HEADER_CONTENT_TYPE)))
		return reply_error(ret_status, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
				   "expected the header Content-Type: application/json");
	if (length && strtoull(length, NULL, 10) > ACTION_BODY_MAX)
		return reply_error(ret_status, MHD_HTTP_CONTENT_TOO_LARGE,
				   "the body is longer than " STRINGIFY(ACTION_BODY_MAX) " bytes");
	*ret_status = 0;
	return NULL;
}

struct MHD_Response *action_new(struct action **ret, struct actions *actions,
				struct MHD_Connection *connection, unsigned *ret_status)
{
	struct MHD_Response *response = action_refuse(actions, connection, ret_status);
	struct action *action;

	if (*ret_status)
		return response;
	action = calloc(1, sizeof(*action));
	if (action) {
		action->actions = actions;
		action->connection = connection;
		list_init(&action->in_actions);
		*ret = action;
	}
	return NULL;
}

struct action *action_free(struct action *action)
{
	if (!action)
		return NULL;
	if (action->call)
		action->actions->n--;
	list_remove(&action->in_actions);
	call_free(action->call);
	free(action->fault);
	return free_memory(action);
}

/* --- all of them --- */

void actions_init(struct actions *actions, const struct actions_owner *owner)
{
	*actions = (struct actions){ .owner = *owner };
	list_init(&actions->list);
}

void actions_close(struct actions *actions)
{
	struct action *action, *next;

	actions->closed = true;
	list_for_each_safe (action, next, &actions->list, in_actions)
		action_answer(action, MHD_HTTP_SERVICE_UNAVAILABLE, "the exporter ends");
}
