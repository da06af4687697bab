#include "exporter/page/page.h"

#include <string.h>

#include "base/macro.h"

/* Made by embed.awk. */
#include <exporter/page/files.inc>

#define PAGE_FILE(file, content, variable)                                             \
	{                                                                              \
		.name = (file), .type = content "; charset=utf-8", .text = (variable), \
		.size = sizeof(variable) - 1                                           \
	}

static const struct page_file files[] = {
	PAGE_FILE("index.html", "text/html", page_index_html),
	PAGE_FILE("style.css", "text/css", page_style_css),
	PAGE_FILE("actions.js", "text/javascript", page_actions_js),
	PAGE_FILE("app.js", "text/javascript", page_app_js),
	PAGE_FILE("chart.js", "text/javascript", page_chart_js),
	PAGE_FILE("dom.js", "text/javascript", page_dom_js),
	PAGE_FILE("log.js", "text/javascript", page_log_js),
	PAGE_FILE("model.js", "text/javascript", page_model_js),
	PAGE_FILE("node.js", "text/javascript", page_node_js),
	PAGE_FILE("past.js", "text/javascript", page_past_js),
	PAGE_FILE("picture.js", "text/javascript", page_picture_js),
	PAGE_FILE("shutdown.js", "text/javascript", page_shutdown_js),
	PAGE_FILE("text.js", "text/javascript", page_text_js),
	PAGE_FILE("tree.js", "text/javascript", page_tree_js),
};

const struct page_file *page_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (strcmp(files[i].name, name) == 0)
			return &files[i];
	return NULL;
}
