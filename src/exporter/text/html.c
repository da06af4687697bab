/*
 * The page without JavaScript: a sentence about the tree, and a table with a row for each node.
 * The sentence is also an event, and replaces the one on the live page.
 */
#include "exporter/text/html.h"

#define TROUBLE_MAX 3  /* failed services that the sentence names */
#define BODY_ROWS   16 /* a browser skips a body that is not on the screen */

/* Writes @text with its special characters as entities, for content and quoted attributes. */
static void html_escape(FILE *to, const char *text)
{
	static const char *const entities[256] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;",
	};

	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (entities[*c])
			(void)fputs(entities[*c], to);
		else
			(void)fputc(*c < ' ' ? ' ' : *c, to);
}

static void html_rollout(FILE *to, const json_t *rollout)
{
	const char *reason = message_get_string(rollout, "reason", NULL);
	bool confirm = json_object_get(rollout, "confirm_usec");

	if (rollout && strcmp(message_get_text(rollout, "state"), "done") != 0)
		(void)fprintf(to, "; %s %s%s%s", confirm ? "reload" : "rollout",
			      message_get_text(rollout, "state"), reason ? ": " : "",
			      reason ? reason : "");
}

char *html_summary(const struct copy *copy, bool up)
{
	size_t services = 0, running = 0, failed = 0;
	struct memstream m;
	char *text = NULL;

	if (memstream_open(&m) < 0)
		return NULL;

	for (size_t i = 0; i < copy->n; i++) {
		const struct node_view *view = &copy->nodes[i].view;

		services += view->is_service;
		running += view->is_service && strcmp(view->service.state, "up") == 0;
		failed += view->is_service && strcmp(view->service.state, "failed") == 0;
	}
	if (!up)
		(void)fputs("The daemon does not answer. Last seen: ", m.file);
	(void)fprintf(m.file, "%zu of %zu services are up", running, services);
	if (copy_is_stopping(copy))
		(void)fputs("; shutting down", m.file);
	html_rollout(m.file, copy->rollout);
	if (failed > 0)
		(void)fprintf(m.file, "; %zu failed:", failed);
	for (size_t i = 0, named = 0; failed > 0 && i < copy->n && named < TROUBLE_MAX; i++)
		if (strcmp(node_view_state_name(&copy->nodes[i].view), "failed") == 0)
			(void)fprintf(m.file, "%s %s", named++ ? "," : "",
				      copy->nodes[i].view.path);
	(void)fputs(failed > TROUBLE_MAX ? " and others." : ".", m.file);
	(void)memstream_close(&m, &text);
	return text;
}

void html_tree(FILE *to, const struct copy *copy, bool up, uint64_t now_usec)
{
	cleanup(freep) char *summary = html_summary(copy, up);

	(void)fputs("<p id=\"summary\" aria-live=\"polite\">", to);
	html_escape(to, summary ? summary : "");
	(void)fputs(
		"</p>\n<table id=\"table\">\n<thead><tr><th>Node</th><th>State</th><th>Guards</th>"
		"<th>Since</th></tr></thead>\n<tbody>\n",
		to);
	for (size_t i = 0; i < copy->n; i++) {
		const struct node_view view = copy_node_at(copy, &copy->nodes[i], now_usec);
		char age[CLOCK_TEXT_MAX];
		uint64_t since = view.is_service ? view.service.since_usec : view.since_usec;

		if (i > 0 && i % BODY_ROWS == 0)
			(void)fputs("</tbody>\n<tbody>\n", to);
		(void)fputs("<tr data-path=\"", to);
		html_escape(to, view.path);
		(void)fputs("\"><th scope=\"row\">", to);
		html_escape(to, *view.path ? view.path : "root");
		(void)fprintf(to, "</th><td>%s%s</td><td>%" PRIu64 "</td><td>%s</td></tr>\n",
			      node_view_state_name(&view), view.service.outdated ? ", outdated" : "",
			      view.guards, clock_text(age, since));
	}
	(void)fputs("</tbody>\n</table>\n", to);
}
