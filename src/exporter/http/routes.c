/*
 * A reply is made for its request.  A route is a path, or the beginning of one up to a slash, and
 * the function gets the rest of the path.
 */
#include "exporter/http/routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memstream.h"
#include "exporter/http/visits.h"
#include "exporter/page/page.h"
#include "exporter/text/api.h"
#include "exporter/text/health.h"
#include "exporter/text/html.h"
#include "exporter/text/usage.h"

struct reply {
	struct MHD_Connection *connection;
	const char *rest; /* of the path */
	unsigned status;
};

/* --- replies --- */

/* Takes @text; NULL: out of memory. */
static struct MHD_Response *reply_text(char *text, const char *type)
{
	struct MHD_Response *response = NULL;

	if (text)
		response =
			MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
	if (text && !response)
		free(text);
	if (response)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return response;
}

/* Takes the reference to @object. */
static struct MHD_Response *reply_json(json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT);

	json_decref(object);
	return reply_text(text, "application/json");
}

static struct MHD_Response *reply_error(struct reply *reply, unsigned status, const char *reason)
{
	reply->status = status;
	return reply_json(json_pack("{s:s}", "error", reason));
}

/* --- routes --- */

static struct MHD_Response *get_tree(struct site *site, struct reply *reply)
{
	(void)reply;
	return reply_json(api_tree(site->copy, link_is_up(site->link), clock_now_usec()));
}

static struct MHD_Response *get_node(struct site *site, struct reply *reply)
{
	const struct copy_node *node = copy_find(site->copy, reply->rest);

	if (!node)
		return reply_error(reply, MHD_HTTP_NOT_FOUND, "no such node");
	return reply_json(
		api_node_page(site->copy, node, link_is_up(site->link), clock_now_usec()));
}

static struct MHD_Response *get_shutdown(struct site *site, struct reply *reply)
{
	(void)reply;
	return reply_json(api_shutdown(site->copy, link_is_up(site->link), true, clock_now_usec()));
}

static struct MHD_Response *get_events(struct site *site, struct reply *reply)
{
	struct MHD_Response *response = stream_response(site->stream, reply->connection);

	if (!response)
		return reply_error(reply, MHD_HTTP_SERVICE_UNAVAILABLE, "too many clients");
	visits_grant_time(reply->connection);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
	return response;
}

static struct MHD_Response *reply_metrics(struct site *site, struct reply *reply, bool usage)
{
	const char *accept = MHD_lookup_connection_value(reply->connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_ACCEPT);
	enum metrics_format format = metrics_accepted(accept);
	const struct metrics_source source = {
		.copy = site->copy,
		.totals = &site->totals,
		.up = link_is_up(site->link),
		.max_nodes = site->max_nodes,
		.now_usec = clock_now_usec(),
	};
	struct memstream m;
	char *text;

	if (memstream_open(&m) < 0)
		return NULL;
	if (usage)
		usage_write(m.file, &source, link_daemon(site->link), format);
	else
		metrics_write(m.file, &source, format);
	return memstream_close(&m, &text) < 0 ? NULL : reply_text(text, metrics_type(format));
}

static struct MHD_Response *get_metrics(struct site *site, struct reply *reply)
{
	return reply_metrics(site, reply, false);
}

static struct MHD_Response *get_usage(struct site *site, struct reply *reply)
{
	return reply_metrics(site, reply, true);
}

/* Takes the reference to @object. */
static struct MHD_Response *reply_health(struct reply *reply, json_t *object, bool ok)
{
	reply->status = ok ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
	return reply_json(object);
}

static struct MHD_Response *get_healthz(struct site *site, struct reply *reply)
{
	bool ok;
	json_t *object = health_live(link_is_up(site->link), &ok);

	return reply_health(reply, object, ok);
}

static struct MHD_Response *get_readyz(struct site *site, struct reply *reply)
{
	bool ok;
	json_t *object = health_ready(site->copy, link_is_up(site->link), &ok);

	return reply_health(reply, object, ok);
}

static struct MHD_Response *get_startupz(struct site *site, struct reply *reply)
{
	return site->started ? get_healthz(site, reply) : get_readyz(site, reply);
}

static struct MHD_Response *get_page(struct site *site, struct reply *reply)
{
	static const char marker[] = "<!--tree-->\n";
	const struct page_file *page = page_find("index.html");
	const char *tree = strstr(page->text, marker);
	struct memstream m;
	char *text;

	(void)reply;
	if (!tree || memstream_open(&m) < 0)
		return NULL;
	(void)fwrite(page->text, 1, (size_t)(tree - page->text), m.file);
	html_tree(m.file, site->copy, link_is_up(site->link), clock_now_usec());
	(void)fputs(tree + strlen(marker), m.file);
	return memstream_close(&m, &text) < 0 ? NULL : reply_text(text, page->type);
}

static struct MHD_Response *get_file(struct site *site, struct reply *reply)
{
	const struct page_file *file = page_find(reply->rest);
	struct MHD_Response *response;

	(void)site;
	if (!file)
		return reply_error(reply, MHD_HTTP_NOT_FOUND, "no such page");
	response = MHD_create_response_from_buffer(file->size, (char *)(uintptr_t)file->text,
						   MHD_RESPMEM_PERSISTENT);
	if (response)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, file->type);
	return response;
}

static const struct {
	const char *path;
	bool is_prefix;
	struct MHD_Response *(*get)(struct site *site, struct reply *reply);
} routes[] = {
	{ "/", false, get_page },
	{ "/node/", true, get_page },
	{ "/shutdown", false, get_page },
	{ "/api/tree", false, get_tree },
	{ "/api/node/", true, get_node },
	{ "/api/shutdown", false, get_shutdown },
	{ "/events", false, get_events },
	{ "/metrics", false, get_metrics },
	{ "/metrics/usage", false, get_usage },
	{ "/healthz", false, get_healthz },
	{ "/readyz", false, get_readyz },
	{ "/startupz", false, get_startupz },
	{ "/", true, get_file },
};

struct MHD_Response *routes_get(struct MHD_Connection *connection, const char *path,
				unsigned *ret_status, void *site)
{
	struct reply reply = { .connection = connection, .status = MHD_HTTP_OK };
	struct MHD_Response *response = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		size_t n = strlen(routes[i].path);

		if (strncmp(path, routes[i].path, n) != 0 || (path[n] && !routes[i].is_prefix))
			continue;
		reply.rest = path + n;
		response = routes[i].get(site, &reply);
		break;
	}
	*ret_status = reply.status;
	return response;
}

/* --- events --- */

static json_t *describe_daemon(const struct site *site)
{
	struct memstream m;
	char *text = NULL;
	json_t *object;

	if (memstream_open(&m) < 0)
		return NULL;
	html_summary(m.file, site->copy, link_is_up(site->link));
	if (memstream_close(&m, &text) < 0)
		return NULL;
	object = json_pack("{s:b, s:s}", "up", link_is_up(site->link), "text", text);
	free(text);
	return object;
}

static void send_summary(struct site *site)
{
	stream_send(site->stream, "summary", describe_daemon(site));
}

static void send_shutdown(struct site *site)
{
	if (copy_is_stopping(site->copy))
		stream_send(
			site->stream, "shutdown",
			api_shutdown(site->copy, link_is_up(site->link), false, clock_now_usec()));
}

static void send_tree(struct site *site)
{
	stream_send(site->stream, "tree",
		    api_tree(site->copy, link_is_up(site->link), clock_now_usec()));
}

static void send_guards(struct site *site)
{
	stream_send(site->stream, "guard", api_guards(site->copy, "", false, clock_now_usec()));
}

static void send_nodes(struct site *site)
{
	uint64_t now = clock_now_usec();

	for (size_t i = 0; i < site->copy->n; i++)
		if (site->copy->nodes[i].changed)
			stream_send(site->stream, "node",
				    api_node(site->copy, &site->copy->nodes[i], now));
}

static void send_events(struct site *site, const json_t *events)
{
	json_t *event;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)events, i, event)
		stream_send(site->stream, "event", json_incref(event));
}

void routes_snapshot(FILE *to, void *arg)
{
	const struct site *site = arg;
	bool up = link_is_up(site->link);
	uint64_t now = clock_now_usec();

	stream_add(to, "summary", describe_daemon(site));
	stream_add(to, "tree", api_tree(site->copy, up, now));
	stream_add(to, "guard", api_guards(site->copy, "", false, now));
	if (copy_is_stopping(site->copy))
		stream_add(to, "shutdown", api_shutdown(site->copy, up, false, now));
}

void routes_resumed(void *arg)
{
	server_resume(((struct site *)arg)->server);
}

static void update_site(struct site *site, enum link_news news, const json_t *detail)
{
	bool ready;

	if (news == LINK_EVENTS)
		totals_take(&site->totals, detail);
	if (news == LINK_TREE || news == LINK_UP)
		totals_prune(&site->totals, site->copy);
	json_decref(health_ready(site->copy, link_is_up(site->link), &ready));
	site->started = news != LINK_DOWN && (site->started || ready);
}

void routes_news(enum link_news news, const json_t *detail, void *arg)
{
	struct site *site = arg;

	update_site(site, news, detail);
	if (!stream_is_used(site->stream))
		return;
	switch (news) {
	case LINK_EVENTS:
		if (link_is_up(site->link))
			send_events(site, detail);
		return;
	case LINK_UP:
		send_tree(site);
		send_guards(site);
		break;
	case LINK_TREE:
		send_tree(site);
		break;
	case LINK_NODES:
		send_nodes(site);
		break;
	case LINK_GUARDS:
		send_guards(site);
		break;
	case LINK_DOWN:
		break;
	}
	send_summary(site);
	send_shutdown(site);
}
