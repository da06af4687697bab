/*
 * A round of queries begins with Status, which lasts several replies, and goes on with Guards, and
 * with Plan, Dependencies and Show of the root if there are other nodes or another configuration.
 * Events that arrive meanwhile cause a further round.  The settings of a node are asked for at its end,
 * or at once between two rounds.
 */
#include "exporter/mirror/link.h"

#include "proto/call.h"
#include "model/base/settings.h"
#include "sys/ipc/unixsock.h"

#define RETRY_MIN_USEC (50 * USEC_PER_MSEC)
#define RETRY_MAX_USEC USEC_PER_SEC
#define ROUND_USEC     (100 * USEC_PER_MSEC) /* between two rounds of queries, at least */
#define ROUND_MAX_USEC (5 * USEC_PER_SEC)    /* at most: a Status during a start takes long */
#define ROUND_SHARE    30 /* the same, as a multiple of the time that a Status takes */
#define STOPPING_USEC  (500 * USEC_PER_MSEC) /* likewise, during a shutdown without events */
#define ANSWER_USEC    (10 * USEC_PER_SEC)   /* for all replies to a query */

struct link {
	sd_event *event;
	const char *socket;
	struct copy *copy;
	const struct link_owner *owner;
	struct call *events, *queries; /* NULL: not connected */
	sd_event_source *retry, *round;
	uint64_t retry_usec;	   /* until the next attempt */
	uint64_t round_begun_usec; /* of the last round */
	uint64_t pause_usec;	   /* since its beginning, until the next one */
	enum interface_method asked;
	bool busy;  /* a query is not answered yet */
	bool dirty; /* an event has come since the round began */
	bool wants_plan;
	uint64_t programs_usec; /* when the daemon last looked at programs; 0: it has to look */
	bool shows_root;	/* the settings that were asked for are those of the round */
	uint64_t configuration; /* of the last Status */
	bool up;
	bool complained;
	json_t *nodes; /* of the replies to Status so far */
};

static void link_down(struct link *link, int r)
{
	struct call *events = take(link->events);

	/* The end of the daemon may be seen by the queries first, before the events that led to it. */
	if (events)
		call_drain(events);
	call_free(events);
	link->queries = call_free(link->queries);
	json_decref(link->nodes);
	link->nodes = NULL;
	link->busy = link->dirty = false;
	(void)sd_event_source_set_enabled(link->round, SD_EVENT_OFF);
	(void)sd_event_source_set_time_relative(link->retry, link->retry_usec);
	(void)sd_event_source_set_enabled(link->retry, SD_EVENT_ONESHOT);
	link->retry_usec = MIN(2 * link->retry_usec, RETRY_MAX_USEC);
	if (link->up || !link->complained)
		log_line(link->owner->log, LOG_WARNING, "%s: the daemon does not answer: %s",
			 link->socket, strerror(-r));
	link->complained = true;
	if (!link->up)
		return;
	link->up = false;
	link->owner->news(LINK_DOWN, NULL, link->owner->arg);
}

/* --- queries --- */

static bool link_on_reply(const struct message_reply *reply, int r, void *arg);

static int link_ask_of(struct link *link, enum interface_method method, json_t *parameters)
{
	const struct call_owner owner = { link_on_reply, link };
	unsigned flags = method == METHOD_STATUS ? MESSAGE_MORE : 0;

	link->asked = method;
	link->busy = true;
	return link->queries ? call_ask(link->queries, method, parameters, flags, ANSWER_USEC)
			     : call_new(&link->queries, link->event, link->socket, method,
					parameters, flags, ANSWER_USEC, &owner);
}

static int link_ask(struct link *link, enum interface_method method)
{
	return link_ask_of(link, method, json_object());
}

/* @path: NULL for the root, in a round */
static int link_ask_show(struct link *link, const char *path)
{
	link->shows_root = !path;
	return link_ask_of(link, METHOD_SHOW,
			   json_pack("{s:s}", "node", path && *path ? path : CONFIG_ROOT_NAME));
}

static int link_begin_round(struct link *link)
{
	json_t *parameters;

	link->dirty = false;
	link->round_begun_usec = clock_now_usec();
	link->nodes = json_array();
	link->copy->asked_usec = clock_realtime_usec();
	parameters = json_pack("{s:b}", "programs", link->programs_usec == 0);
	link->programs_usec = link->programs_usec ? link->programs_usec : link->round_begun_usec;
	return link_ask_of(link, METHOD_STATUS, parameters);
}

static void link_set_round(struct link *link, uint64_t usec)
{
	(void)sd_event_source_set_time(link->round, clock_add(link->round_begun_usec, usec));
	(void)sd_event_source_set_enabled(link->round, SD_EVENT_ONESHOT);
}

/* Starts a round of queries after a possible change, unless one is about to begin. */
static void link_touch(struct link *link)
{
	link->dirty = true;
	if (!link->busy)
		link_set_round(link, link->pause_usec);
}

static int link_end_round(struct link *link)
{
	const char *wanted = shown_next(&link->copy->shown);

	if (wanted)
		return link_ask_show(link, wanted);
	link->busy = false;
	link->retry_usec = RETRY_MIN_USEC;
	if (!link->up) {
		link->up = true;
		link->complained = false;
		log_line(link->owner->log, LOG_INFO, "%s: %zu nodes", link->socket, link->copy->n);
		link->owner->news(LINK_UP, NULL, link->owner->arg);
	}
	if (link->dirty)
		link_set_round(link, link->pause_usec);
	else if (copy_is_stopping(link->copy))
		link_set_round(link, STOPPING_USEC);
	return 0;
}

static int link_receive_status(struct link *link, const struct message_reply *reply)
{
	uint64_t configuration = message_get_number(reply->parameters, "configuration", 0);
	int r;

	/* The settings that are known are those of another configuration. */
	if (configuration != link->configuration) {
		link->configuration = configuration;
		link->wants_plan = true;
		shown_forget(&link->copy->shown);
	}
	if (json_array_extend(link->nodes, json_object_get(reply->parameters, "nodes")) < 0)
		return -EBADMSG;
	if (reply->continues)
		return 0;
	link->pause_usec =
		MAX(ROUND_USEC, ROUND_SHARE * (clock_now_usec() - link->round_begun_usec));
	link->pause_usec = MIN(link->pause_usec, ROUND_MAX_USEC);
	r = copy_take_nodes(link->copy, link->nodes, clock_now_usec());
	json_decref(link->nodes);
	link->nodes = NULL;
	if (r < 0)
		return r;
	json_decref(link->copy->rollout);
	link->copy->rollout = json_incref(json_object_get(reply->parameters, "rollout"));
	link->wants_plan = link->wants_plan || r == 1;
	if (link->up)
		link->owner->news(r == 1 ? LINK_TREE : LINK_NODES, NULL, link->owner->arg);
	return link_ask(link, METHOD_GUARDS);
}

static int link_receive_guards(struct link *link, const struct message_reply *reply)
{
	int r = copy_take_guards(link->copy, reply->parameters, clock_now_usec());

	if (r < 0)
		return r;
	if (r == 1 && link->up)
		link->owner->news(LINK_GUARDS, NULL, link->owner->arg);
	return link->wants_plan ? link_ask(link, METHOD_PLAN) : link_end_round(link);
}

static int link_receive_plan(struct link *link, const struct message_reply *reply)
{
	link->wants_plan = false;
	json_decref(link->copy->plan);
	link->copy->plan = json_incref(reply->parameters);
	return link_ask(link, METHOD_DEPENDENCIES);
}

static int link_receive_dependencies(struct link *link, const struct message_reply *reply)
{
	json_t *dependencies = json_object_get(reply->parameters, "dependencies");

	if (!json_is_array(dependencies))
		return -EBADMSG;
	json_decref(link->copy->dependencies);
	link->copy->dependencies = json_incref(dependencies);
	return link_ask_show(link, NULL);
}

static int link_receive_show(struct link *link, const struct message_reply *reply)
{
	struct shown *shown = &link->copy->shown;

	if (link->shows_root) {
		json_decref(link->copy->settings);
		link->copy->settings = json_incref(reply->parameters);
	} else {
		shown_take(shown, shown_next(shown), reply->error ? NULL : reply->parameters);
		link->owner->news(LINK_SETTINGS, reply->parameters, link->owner->arg);
	}
	return link_end_round(link);
}

typedef int link_receiver(struct link *link, const struct message_reply *reply);

static link_receiver *const receivers[] = {
	[METHOD_STATUS] = link_receive_status, [METHOD_GUARDS] = link_receive_guards,
	[METHOD_PLAN] = link_receive_plan,     [METHOD_DEPENDENCIES] = link_receive_dependencies,
	[METHOD_SHOW] = link_receive_show,
};

static bool link_on_reply(const struct message_reply *reply, int r, void *arg)
{
	struct link *link = arg;
	/* A node may be removed before its settings are asked for. */
	bool forgives = link->busy && link->asked == METHOD_SHOW && !link->shows_root;

	if (reply && reply->error && !forgives)
		r = -EPROTO;
	else if (reply)
		r = link->busy ? receivers[link->asked](link, reply) : -EBADMSG;
	if (r < 0)
		link_down(link, r);
	return r == 0;
}

/* --- events --- */

static int link_receive_events(struct link *link, const struct message_reply *reply)
{
	const json_t *events = json_object_get(reply->parameters, "events");
	json_t *fresh;

	/* The daemon ends. */
	if (!reply->continues)
		return -ECONNRESET;
	if (!json_is_array(events))
		return -EBADMSG;
	fresh = copy_take_events(link->copy, events);
	if (json_array_size(fresh) > 0)
		link->owner->news(LINK_EVENTS, fresh, link->owner->arg);
	json_decref(fresh);
	link_touch(link);
	return 0;
}

/* The end of the link takes the last events. */
static bool link_on_events(const struct message_reply *reply, int r, void *arg)
{
	struct link *link = arg;

	if (reply)
		r = reply->error ? -EPROTO : link_receive_events(link, reply);
	if (r < 0 && link->events)
		link_down(link, r);
	return r == 0;
}

static int link_on_retry(sd_event_source *source, uint64_t usec, void *arg)
{
	struct link *link = arg;
	const struct call_owner owner = { link_on_events, link };
	/* Events first, so that no change is between them and the first Status. */
	int r = call_new(&link->events, link->event, link->socket, METHOD_EVENTS,
			 json_pack("{s:i, s:b}", "last", COPY_EVENTS, "changes", 1), MESSAGE_MORE,
			 USEC_INFINITY, &owner);

	if (r == 0)
		r = link_begin_round(link);
	link->wants_plan = true;
	shown_forget(&link->copy->shown);
	if (r < 0)
		link_down(link, r);
	return 0;
}

static int link_on_round(sd_event_source *source, uint64_t usec, void *arg)
{
	struct link *link = arg;
	int r = link->busy ? 0 : link_begin_round(link);

	if (r < 0)
		link_down(link, r);
	return 0;
}

int link_new(struct link **ret, sd_event *event, const char *socket, struct copy *copy,
	     const struct link_owner *owner)
{
	struct link *link = calloc(1, sizeof(*link));
	int r;

	if (!link)
		return -ENOMEM;
	*link = (struct link){ .event = event,
			       .socket = socket,
			       .copy = copy,
			       .owner = owner,
			       .retry_usec = RETRY_MIN_USEC,
			       .pause_usec = ROUND_USEC };
	r = sd_event_add_time(event, &link->retry, CLOCK_MONOTONIC, 0, 1, link_on_retry, link);
	if (r >= 0)
		r = sd_event_add_time(event, &link->round, CLOCK_MONOTONIC, USEC_INFINITY, 1,
				      link_on_round, link);
	if (r < 0)
		link_free(link);
	else
		*ret = link;
	return MIN(r, 0);
}

struct link *link_free(struct link *link)
{
	if (!link)
		return NULL;
	call_free(link->events);
	call_free(link->queries);
	link->retry = sd_event_source_disable_unref(link->retry);
	link->round = sd_event_source_disable_unref(link->round);
	json_decref(link->nodes);
	return free_memory(link);
}

void link_want_settings(struct link *link)
{
	const char *wanted = shown_next(&link->copy->shown);
	int r = wanted && link->up && !link->busy ? link_ask_show(link, wanted) : 0;

	if (r < 0)
		link_down(link, r);
}

void link_renew(struct link *link)
{
	uint64_t now = clock_now_usec();

	if (now > clock_add(link->programs_usec, LINK_PROGRAMS_USEC))
		link->programs_usec = 0;
	if (link->up && !link->busy &&
	    (!link->programs_usec || now > clock_add(link->copy->at_usec, LINK_RENEW_USEC)))
		link_touch(link);
}

bool link_is_up(const struct link *link)
{
	return link->up;
}

pid_t link_daemon(const struct link *link)
{
	struct ucred peer;

	return link->queries && unix_peer(client_get_fd(call_client(link->queries)), &peer) == 0
		       ? peer.pid
		       : 0;
}
