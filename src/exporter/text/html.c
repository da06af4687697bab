/*
 * The page without JavaScript: a sentence about the tree, and a table with a row for each node.
 * The sentence is also an event, and replaces the one on the live page.
 */
#include "exporter/text/html.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/memstream.h"

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

static const char *html_state_of(const struct node_view *view)
{
	return view->is_service ? view->service.state : node_view_state_name(view->state);
}

void html_summary(FILE *to, const struct copy *copy, bool up)
{
	size_t services = 0, running = 0, failed = 0;

	for (size_t i = 0; i < copy->n; i++) {
		const struct node_view *view = &copy->nodes[i].view;

		services += view->is_service;
		running += view->is_service && strcmp(view->service.state, "up") == 0;
		failed += view->is_service && strcmp(view->service.state, "failed") == 0;
	}
	if (!up)
		(void)fputs("The daemon does not answer. Last seen: ", to);
	(void)fprintf(to, "%zu of %zu services are up", running, services);
	if (copy_is_stopping(copy))
		(void)fputs("; shutting down", to);
	if (failed > 0)
		(void)fprintf(to, "; %zu failed:", failed);
	for (size_t i = 0, named = 0; failed > 0 && i < copy->n && named < TROUBLE_MAX; i++)
		if (strcmp(html_state_of(&copy->nodes[i].view), "failed") == 0)
			(void)fprintf(to, "%s %s", named++ ? "," : "", copy->nodes[i].view.path);
	(void)fputs(failed > TROUBLE_MAX ? " and others." : ".", to);
}

void html_tree(FILE *to, const struct copy *copy, bool up, uint64_t now_usec)
{
	struct memstream m;
	char *summary = NULL;

	(void)fputs("<p id=\"summary\" aria-live=\"polite\">", to);
	if (memstream_open(&m) == 0) {
		html_summary(m.file, copy, up);
		(void)memstream_close(&m, &summary);
	}
	html_escape(to, summary ? summary : "");
	free(summary);
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
		(void)fprintf(to, "</th><td>%s</td><td>%" PRIu64 "</td><td>%s</td></tr>\n",
			      html_state_of(&view), view.guards, clock_text(age, since));
	}
	(void)fputs("</tbody>\n</table>\n", to);
}
