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

/* Takes the reference to @object. */
static struct MHD_Response *reply_past(struct reply *reply, json_t *object, bool found)
{
	if (!found)
		reply->status = MHD_HTTP_NOT_FOUND;
	return reply_json(object);
}

static struct MHD_Response *get_history(struct site *site, struct reply *reply)
{
	bool found;
	json_t *object = past_history(&site->past, site->copy->settings, reply->rest, &found);

	return reply_past(reply, object, found);
}

static struct MHD_Response *get_otlp(struct site *site, struct reply *reply)
{
	bool found;
	json_t *object = past_shutdown(&site->past, site->copy->settings, &found);

	return reply_past(reply, object, found);
}

static struct MHD_Response *get_otlp_start(struct site *site, struct reply *reply)
{
	bool found;
	json_t *object = past_starts(site->copy->events, &found);

	return reply_past(reply, object, found);
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
	{ "/api/history", false, get_history },
	{ "/api/history/", true, get_history },
	{ "/events", false, get_events },
	{ "/metrics", false, get_metrics },
	{ "/metrics/usage", false, get_usage },
	{ "/otlp", false, get_otlp },
	{ "/otlp/start", false, get_otlp_start },
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
