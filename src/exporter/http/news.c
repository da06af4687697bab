/*
 * Each change that the link reports becomes events: "tree", "node", "guard" or "event", then "summary" and, in
 * a shutdown, "shutdown".  They are built once for all clients, and not at all without a client.  A new client
 * gets a snapshot of the same events.
 */
#include "exporter/http/news.h"

#include "exporter/text/api.h"
#include "exporter/text/health.h"
#include "exporter/text/html.h"

static json_t *news_describe_daemon(const struct site *site)
{
	bool up = link_is_up(site->link);
	cleanup(freep) char *text = html_summary(site->copy, up);

	return json_pack("{s:b, s:s, s:O*}", "up", up, "text", text, "rollout", site->copy->rollout);
}

json_t *news_tree(const struct site *site)
{
	json_t *tree = api_tree(site->copy, link_is_up(site->link), clock_now_usec());

	(void)json_object_set_new(tree, "features",
				  json_pack("{s:b, s:b}", "actions",
					    site->actions.owner.token != NULL, "logs",
					    tails_are_on(&site->tails)));
	return tree;
}

static void news_send_changes(struct site *site, enum link_news news)
{
	const struct copy *copy = site->copy;
	uint64_t now = clock_now_usec();

	if (news == LINK_UP || news == LINK_TREE)
		event_stream_send(site->stream, "tree", news_tree(site));
	for (size_t i = 0; news == LINK_NODES && i < copy->n; i++)
		if (copy->nodes[i].changed)
			event_stream_send(site->stream, "node",
					  api_node(copy, &copy->nodes[i], now));
	if (news == LINK_UP || news == LINK_GUARDS)
		event_stream_send(site->stream, "guard", api_guards(copy, now));
	event_stream_send(site->stream, "summary", news_describe_daemon(site));
	if (copy_is_stopping(copy))
		event_stream_send(site->stream, "shutdown",
				  api_shutdown(copy, link_is_up(site->link), false, now));
}

void news_snapshot(FILE *to, void *arg)
{
	const struct site *site = arg;
	bool up = link_is_up(site->link);
	uint64_t now = clock_now_usec();

	event_stream_add(to, "summary", news_describe_daemon(site));
	event_stream_add(to, "tree", news_tree(site));
	event_stream_add(to, "guard", api_guards(site->copy, now));
	if (copy_is_stopping(site->copy))
		event_stream_add(to, "shutdown", api_shutdown(site->copy, up, false, now));
}

void news_resumed(void *arg)
{
	server_resume(((struct site *)arg)->server);
}

void news_left(const char *node, void *arg)
{
	tail_release(&((struct site *)arg)->tails, node);
}

void news_line(const char *node, json_t *line, void *arg)
{
	event_stream_send_line(((struct site *)arg)->stream, node, line);
}

void news_tail(void *arg)
{
	server_retry(((struct site *)arg)->server);
}

void news_take(enum link_news news, const json_t *detail, void *arg)
{
	struct site *site = arg;
	const struct copy_node *node;
	json_t *event;
	size_t i;
	bool ready;

	if (news == LINK_EVENTS)
		totals_take(&site->totals, detail);
	if (news == LINK_TREE || news == LINK_UP)
		totals_prune(&site->totals, site->copy);
	json_decref(health_ready(site->copy, link_is_up(site->link), &ready));
	site->started = news != LINK_DOWN && (site->started || ready);
	if (!event_stream_is_used(site->stream))
		return;
	if (news == LINK_EVENTS) {
		json_array_foreach ((json_t *)(uintptr_t)detail, i, event)
			event_stream_send(site->stream, "event", json_incref(event));
	} else if (news == LINK_SETTINGS) {
		/* With its settings, for which the page of the node waits. */
		node = copy_find(site->copy, message_get_text(detail, "node"));
		if (node)
			event_stream_send(site->stream, "node",
					  api_node(site->copy, node, clock_now_usec()));
	} else {
		news_send_changes(site, news);
	}
}
