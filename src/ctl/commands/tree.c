/*
 * The nodes are made a forest by their paths, and each row of the table gets the row of its
 * parent.  libsmartcols draws the branches.
 */
#include "ctl/commands/cmd.h"

#include "ctl/terminal/forest.h"

/* libsmartcols recurses.  A node below this depth stands beside its parent. */
#define DEPTH_MAX 64

/* The row above a node, and its depth. */
struct row {
	struct libscols_line *line, *parent;
	unsigned depth;
};

static void tree_add_node(struct table *t, const struct forest *f, size_t i, struct row *rows)
{
	char note[SHOW_NOTE_MAX], count[SHOW_COUNT_MAX];
	const struct node_view *node = &f->views[i];
	size_t parent = f->parents[i];
	struct row *row = &rows[i];

	if (parent != FOREST_NONE && rows[parent].depth + 1 < DEPTH_MAX)
		*row = (struct row){ .parent = rows[parent].line, .depth = rows[parent].depth + 1 };
	else if (parent != FOREST_NONE)
		*row = rows[parent];
	row->line = table_begin_row(t, row->parent);
	table_add(t, STYLE_PLAIN, "%s", forest_name(f, i));
	show_add_state(t, node);
	if (node->is_service && node->service.pid != FIELD_NONE)
		table_add(t, STYLE_PLAIN, "pid %" PRIu64, node->service.pid);
	else
		table_add(t, STYLE_PLAIN, "%s",
			  node->guards ? show_count(count, node->guards, "guard") : "");
	table_add(t, STYLE_PLAIN, "%s", show_note(note, node));
}

static int tree_print(struct ctl *ctl, const struct nodes *nodes)
{
	cleanup(freep) struct row *rows = calloc(nodes->n + 1, sizeof(*rows));
	cleanup(table_done) struct table t = {};
	cleanup(freep) struct forest *f = NULL;

	if (!rows || forest_new(&f, nodes->nodes, nodes->n) < 0)
		return ctl_fail(ctl, -ENOMEM);
	table_init(&t, 4, NULL);
	for (size_t i = 0; i < nodes->n; i++)
		tree_add_node(&t, f, i, rows);
	return ctl_print_table(ctl, &t);
}

int cmd_tree(struct ctl *ctl, int argc, char **argv)
{
	int r = CTL_DONE;

	/* With --json, tree is the same as status: a path contains its parents. */
	if (ctl->options.json)
		return cmd_status(ctl, argc, argv);
	for (; r == CTL_DONE && *argv; argv++) {
		cleanup(nodes_done) struct nodes nodes = {};

		r = nodes_fetch(ctl, *argv, false, &nodes);
		if (r == CTL_DONE)
			r = tree_print(ctl, &nodes);
	}
	return r;
}
