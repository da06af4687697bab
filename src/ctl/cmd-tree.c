#include "ctl/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ctl/forest.h"
#include "ctl/nodes.h"
#include "ctl/show.h"

/* How deep the lines are drawn; what is below that stands where its parent does. */
#define DEPTH_MAX 64
#define ART_MAX	  8 /* bytes of one level */

struct art {
	const char *child, *last, *bar, *blank;
};

static const struct art utf8 = { "├─ ", "└─ ", "│  ", "   " };
static const struct art ascii = { "|- ", "`- ", "|  ", "   " };

/* From the root down: a bar for each ancestor that has a sibling still to come. */
static void draw(char *out, size_t size, const struct forest *f, size_t i, const struct art *art)
{
	const char *pieces[DEPTH_MAX];
	size_t depth = 0, used = 0;

	out[0] = '\0';
	if (f->nodes[i].parent == FOREST_NONE)
		return;
	pieces[depth++] = f->nodes[i].next == FOREST_NONE ? art->last : art->child;
	for (i = f->nodes[i].parent; f->nodes[i].parent != FOREST_NONE && depth < DEPTH_MAX;
	     i = f->nodes[i].parent)
		pieces[depth++] = f->nodes[i].next == FOREST_NONE ? art->blank : art->bar;
	while (depth)
		used += (size_t)snprintf(out + used, size - used, "%s", pieces[--depth]);
}

static void add_node(struct table *t, const struct forest *f, size_t i, const struct art *art)
{
	char lines[DEPTH_MAX * ART_MAX], state[SHOW_STATE_MAX], note[SHOW_NOTE_MAX],
		count[SHOW_COUNT_MAX];
	const struct node_view *node = &f->views[i];
	enum style style;

	draw(lines, sizeof(lines), f, i, art);
	show_state(state, node, &style);
	table_add(t, STYLE_PLAIN, "%s%s", lines, forest_name(f, i));
	table_add_text(t, style, state);
	if (node->is_service && node->service.pid != FIELD_NONE)
		table_add(t, STYLE_PLAIN, "pid %" PRIu64, node->service.pid);
	else if (node->guards)
		table_add_text(t, STYLE_PLAIN, show_count(count, node->guards, "guard"));
	else
		table_add_text(t, STYLE_PLAIN, "");
	table_add_text(t, STYLE_PLAIN, show_note(note, node));
	table_end_row(t);
}

static int print_tree(struct ctl *ctl, const struct nodes *nodes)
{
	cleanup(table_freep) struct table *t = NULL;
	cleanup(freep) struct forest *f = NULL;
	const struct art *art = screen_set_locale() ? &utf8 : &ascii;
	int r;

	r = table_new(&t, 4);
	if (r < 0)
		return r;
	r = forest_new(&f, nodes->nodes, nodes->n);
	if (r < 0)
		return r;
	for (size_t i = f->first; i != FOREST_NONE; i = forest_next(f, i))
		add_node(t, f, i, art);
	return table_print(t, &ctl->out);
}

static int show_tree(struct ctl *ctl, const char *path)
{
	struct nodes nodes;
	int r = nodes_overview(ctl, path, &nodes);

	if (r != CTL_DONE)
		return r;
	r = ctl->options.quiet ? 0 : print_tree(ctl, &nodes);
	nodes_done(&nodes);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

int cmd_tree(struct ctl *ctl, int argc, char **argv)
{
	cleanup(freep) char **paths = NULL;
	int r = CTL_DONE;

	/* Parents are named by the paths: as JSON it is the same. */
	if (ctl->options.json)
		return cmd_status(ctl, argc, argv);
	r = nodes_resolve(ctl, argv, (size_t)argc, &paths);
	for (size_t i = 0; r == CTL_DONE && paths[i]; i++)
		r = show_tree(ctl, paths[i]);
	return r;
}
