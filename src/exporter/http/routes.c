/*
 * A reply is made for its request.  A route is a path, or the beginning of one up to a slash, and
 * the function gets the rest of the path.
 */
#include "exporter/http/routes.h"

#include "exporter/http/news.h"
#include "exporter/http/reply.h"
#include "exporter/limits/client.h"
#include "exporter/text/api.h"
#include "exporter/text/health.h"
#include "exporter/text/html.h"
#include "exporter/text/metrics.h"

#define LOGS_DEFAULT 20 /* lines */

struct reply {
	struct MHD_Connection *connection;
	const char *rest; /* of the path */
	unsigned status;
	bool ok; /* else the status is that of the route */
};

/* The replies that are an object of the copy as it is. */
#define GET_JSON(name, object)                                                                \
	static struct MHD_Response *routes_get_##name(struct site *site, struct reply *reply) \
	{                                                                                     \
		return reply_json(object);                                                    \
	}

GET_JSON(tree, news_tree(site))
GET_JSON(shutdown, api_shutdown(site->copy, link_is_up(site->link), true, clock_now_usec()))
GET_JSON(dependencies, api_dependencies(site->copy, link_is_up(site->link)))
GET_JSON(history, past_history(&site->past, site->copy->settings, reply->rest, &reply->ok))

static struct MHD_Response *routes_get_node(struct site *site, struct reply *reply)
{
	const struct copy_node *node = copy_find(site->copy, reply->rest);
	json_t *page, *past;

	if (!node)
		return reply_error(&reply->status, MHD_HTTP_NOT_FOUND, "no such node");
	if (!shown_get(&site->copy->shown, reply->rest)) {
		shown_want(&site->copy->shown, reply->rest);
		link_want_settings(site->link);
	}
	page = api_node_page(site->copy, node, link_is_up(site->link), clock_now_usec());
	past = past_of(&site->past, site->copy->settings, node->view.path,
		       link_is_up(site->link) ? clock_realtime_usec() : 0);
	(void)json_object_update_new(page, past);
	return reply_json(page);
}

static const char *routes_argument_of(const struct reply *reply, const char *name)
{
	return MHD_lookup_connection_value(reply->connection, MHD_GET_ARGUMENT_KIND, name);
}

/*
 * Finds the tail of the service @path, or begins it; NULL for a group, of which there are no lines.
 * Returns the status, and the reason if it is not 200.
 */
static unsigned routes_find_tail(struct site *site, const char *path, struct tail **ret,
				 const char **ret_reason)
{
	const struct copy_node *node = path ? copy_find(site->copy, path) : NULL;
	int r;

	*ret = NULL;
	*ret_reason = "the exporter was started without --logs";
	if (!tails_are_on(&site->tails))
		return MHD_HTTP_FORBIDDEN;
	*ret_reason = "no such node";
	if (!node)
		return MHD_HTTP_NOT_FOUND;
	r = node->view.is_service ? tail_get(ret, &site->tails, node->view.path) : 0;
	*ret_reason = r == -EBUSY ? "the logs of as many services as --max-logs allows are read"
				  : "out of memory";
	return r < 0 ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK;
}

static struct MHD_Response *routes_reply_lines(struct reply *reply, const struct tail *tail,
					       const char *path, size_t n)
{
	json_t *lines;
	bool refused;
	const char *error;

	if (tail && tail_state(tail) == TAIL_BEGINS) {
		reply->status = 0;
		return NULL;
	}
	if (tail && tail_state(tail) == TAIL_FAILED) {
		error = tail_error(tail, &refused);
		return reply_error(&reply->status,
				   refused ? MHD_HTTP_FORBIDDEN : MHD_HTTP_BAD_GATEWAY, error);
	}
	lines = tail ? tail_lines(tail, n) : json_array();
	return reply_json(json_pack("{s:o, s:o}", "node", message_string(path), "lines", lines));
}

static struct MHD_Response *routes_get_logs(struct site *site, struct reply *reply)
{
	const char *path = routes_argument_of(reply, "node"),
		   *n = routes_argument_of(reply, "lines"), *reason;
	uint64_t lines = LOGS_DEFAULT;
	struct tail *tail;
	unsigned status;

	if (n && (parse_uint(n, TAIL_LINES, &lines) < 0 || lines == 0))
		return reply_error(&reply->status, MHD_HTTP_BAD_REQUEST,
				   "invalid number of lines: expected 1 to " STRINGIFY(TAIL_LINES));
	status = routes_find_tail(site, path, &tail, &reason);
	return status == MHD_HTTP_OK ? routes_reply_lines(reply, tail, path, (size_t)lines)
				     : reply_error(&reply->status, status, reason);
}

static struct MHD_Response *routes_get_events(struct site *site, struct reply *reply)
{
	const char *path = routes_argument_of(reply, "log"), *reason;
	struct MHD_Response *response;
	struct tail *tail = NULL;
	json_t *first = NULL;

	/* Without logs there is nothing but events. */
	if (path && tails_are_on(&site->tails) &&
	    routes_find_tail(site, path, &tail, &reason) != MHD_HTTP_OK)
		first = json_pack("{s:o, s:s}", "node", message_string(path), "error", reason);
	response =
		event_stream_response(site->stream, reply->connection, tail ? path : NULL, first);
	if (!response)
		return reply_error(&reply->status, MHD_HTTP_SERVICE_UNAVAILABLE,
				   "too many clients");
	if (tail)
		tail_hold(tail);
	server_grant_time(site->server, reply->connection);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
	return response;
}

static struct MHD_Response *routes_reply_metrics(struct site *site, struct reply *reply, bool usage)
{
	const char *accept = client_header(reply->connection, MHD_HTTP_HEADER_ACCEPT);
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
		metrics_write_usage(m.file, &source, link_daemon(site->link), format);
	else
		metrics_write(m.file, &source, format);
	return memstream_close(&m, &text) < 0 ? NULL : reply_text(text, metrics_type(format));
}

static struct MHD_Response *routes_get_metrics(struct site *site, struct reply *reply)
{
	link_renew(site->link);
	return routes_reply_metrics(site, reply, false);
}

static struct MHD_Response *routes_get_usage(struct site *site, struct reply *reply)
{
	return routes_reply_metrics(site, reply, true);
}

static struct MHD_Response *routes_get_healthz(struct site *site, struct reply *reply)
{
	link_renew(site->link);
	return reply_json(health_live(link_is_up(site->link), &reply->ok));
}

static struct MHD_Response *routes_get_readyz(struct site *site, struct reply *reply)
{
	link_renew(site->link);
	return reply_json(health_ready(site->copy, link_is_up(site->link), &reply->ok));
}

static struct MHD_Response *routes_get_startupz(struct site *site, struct reply *reply)
{
	return site->started ? routes_get_healthz(site, reply) : routes_get_readyz(site, reply);
}

#define PAGE_FILE(file, content, ...)                     \
	{ .name = (file),                                 \
	  .type = content "; charset=utf-8",              \
	  .data = (const unsigned char[]){ __VA_ARGS__ }, \
	  .size = sizeof((const unsigned char[]){ __VA_ARGS__ }) },

/* The files of the page, made by src/exporter/page/embed. */
static const struct page_file {
	const char *name, *type;
	const void *data;
	size_t size;
} page_files[] = {
#include <exporter/page/files.inc>
};

static const struct page_file *routes_find_file(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(page_files); i++)
		if (strcmp(page_files[i].name, name) == 0)
			return &page_files[i];
	return NULL;
}

static struct MHD_Response *routes_get_page(struct site *site, struct reply *reply)
{
	static const char marker[] = "<!--tree-->\n";
	const struct page_file *page = routes_find_file("index.html");
	const char *html = page->data, *tree = memmem(html, page->size, marker, strlen(marker));
	struct memstream m;
	char *text;

	if (!tree || memstream_open(&m) < 0)
		return NULL;
	(void)fwrite(html, 1, (size_t)(tree - html), m.file);
	html_tree(m.file, site->copy, link_is_up(site->link), clock_now_usec());
	tree += strlen(marker);
	(void)fwrite(tree, 1, (size_t)(html + page->size - tree), m.file);
	return memstream_close(&m, &text) < 0 ? NULL : reply_text(text, page->type);
}

static struct MHD_Response *routes_get_file(struct site *site, struct reply *reply)
{
	const char *accepted = client_header(reply->connection, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	const struct page_file *file = routes_find_file(reply->rest);
	struct MHD_Response *response;

	if (!file)
		return reply_error(&reply->status, MHD_HTTP_NOT_FOUND, "no such page");
	if (accepted && !strstr(accepted, "gzip"))
		return reply_error(&reply->status, MHD_HTTP_NOT_ACCEPTABLE,
				   "expected gzip in the header Accept-Encoding");
	response = MHD_create_response_from_buffer(file->size, (void *)(uintptr_t)file->data,
						   MHD_RESPMEM_PERSISTENT);
	if (response) {
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, file->type);
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	}
	return response;
}

static const struct {
	const char *path;
	bool is_prefix;
	struct MHD_Response *(*get)(struct site *site, struct reply *reply);
	unsigned otherwise; /* the status of a reply that is not ok */
} routes[] = {
	{ "/", false, routes_get_page },
	{ "/index.html", false, routes_get_page },
	{ "/node/", true, routes_get_page },
	{ "/shutdown", false, routes_get_page },
	{ "/api/tree", false, routes_get_tree },
	{ "/api/node/", true, routes_get_node },
	{ "/api/shutdown", false, routes_get_shutdown },
	{ "/api/dependencies", false, routes_get_dependencies },
	{ "/api/history", false, routes_get_history, MHD_HTTP_NOT_FOUND },
	{ "/api/history/", true, routes_get_history, MHD_HTTP_NOT_FOUND },
	{ "/api/logs", false, routes_get_logs },
	{ "/events", false, routes_get_events },
	{ "/metrics", false, routes_get_metrics },
	{ "/metrics/usage", false, routes_get_usage },
	{ "/healthz", false, routes_get_healthz, MHD_HTTP_SERVICE_UNAVAILABLE },
	{ "/readyz", false, routes_get_readyz, MHD_HTTP_SERVICE_UNAVAILABLE },
	{ "/startupz", false, routes_get_startupz, MHD_HTTP_SERVICE_UNAVAILABLE },
	{ "/", true, routes_get_file },
};

struct MHD_Response *routes_get(struct MHD_Connection *connection, const char *path,
				unsigned *ret_status, void *site)
{
	struct reply reply = { .connection = connection, .status = MHD_HTTP_OK, .ok = true };
	struct MHD_Response *response = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		size_t n = strlen(routes[i].path);

		if (strncmp(path, routes[i].path, n) != 0 || (path[n] && !routes[i].is_prefix))
			continue;
		reply.rest = path + n;
		response = routes[i].get(site, &reply);
		*ret_status = reply.ok ? reply.status : routes[i].otherwise;
		break;
	}
	return response;
}
