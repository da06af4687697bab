#include "ctl/commands/cmd.h"

#include "ctl/session/usage.h"
#include "ctl/terminal/forest.h"

/*
 * The nodes come from the daemon, and their usage from /proc and the control groups: nothing is measured unless
 * a user asks.  A group has the sum of what is in it.
 */

#define TICK_MSEC 2000

struct row {
	struct usage usage;
	uint64_t restarts;
	bool known; /* a service in it has a process */
};

struct look {
	struct nodes nodes;
	struct row *rows; /* of each node */
	uint64_t at_usec;
};

static void top_sample_done(struct look *look)
{
	free(look->rows);
	nodes_done(&look->nodes);
	*look = (struct look){};
}

static int top_add_services(struct look *look, const struct usages *usages)
{
	const struct node_view *nodes = look->nodes.nodes;
	cleanup(freep) struct forest *f = NULL;
	int r = forest_new(&f, nodes, look->nodes.n);

	for (size_t i = 0; r == 0 && i < look->nodes.n; i++) {
		struct row row = { .restarts =
					   nodes[i].is_service ? nodes[i].service.restarts : 0 };

		row.known = usages_of(usages, &nodes[i], &row.usage);
		for (size_t j = i; j != FOREST_NONE; j = f->parents[j]) {
			look->rows[j].restarts += row.restarts;
			look->rows[j].known |= row.known;
			usage_add(&look->rows[j].usage.cpu_usec, row.usage.cpu_usec);
			usage_add(&look->rows[j].usage.memory, row.usage.memory);
			usage_add(&look->rows[j].usage.processes, row.usage.processes);
			usage_add(&look->rows[j].usage.descriptors, row.usage.descriptors);
		}
	}
	return r;
}

static int top_take_sample(struct ctl *ctl, const char *path, struct look *ret)
{
	struct look look = {};
	struct usages usages;
	int r = nodes_fetch(ctl, path, false, &look.nodes);

	if (r != CTL_DONE)
		return r;
	look.at_usec = clock_now_usec();
	look.rows = calloc(look.nodes.n + 1, sizeof(*look.rows));
	usages_take(ctl, &usages);
	r = look.rows ? top_add_services(&look, &usages) : -ENOMEM;
	snapshot_done(&usages.snapshot);
	if (r < 0) {
		top_sample_done(&look);
		return ctl_fail(ctl, r);
	}
	*ret = look;
	return CTL_DONE;
}

/* Finds the row of the same node in an earlier sample; it is at the same index in most cases. */
static const struct row *top_find_before(const struct look *before, const char *path, size_t at)
{
	if (at < before->nodes.n && strcmp(before->nodes.nodes[at].path, path) == 0)
		return &before->rows[at];
	for (size_t i = 0; i < before->nodes.n; i++)
		if (strcmp(before->nodes.nodes[i].path, path) == 0)
			return &before->rows[i];
	return NULL;
}

static void top_add_number(struct table *t, bool known, uint64_t n)
{
	if (!known || n == USAGE_UNKNOWN)
		table_add(t, STYLE_FAINT, "-");
	else
		table_add(t, STYLE_PLAIN, "%" PRIu64, n);
}

/* In percent of one processor, since the last sample. */
static void top_add_share(struct table *t, const struct look *look, const struct look *before,
			  size_t i)
{
	const struct row *row = &look->rows[i];
	const struct row *was = top_find_before(before, look->nodes.nodes[i].path, i);
	uint64_t usec = look->at_usec - before->at_usec;

	if (!row->known || !was || !was->known || usec == 0 ||
	    row->usage.cpu_usec < was->usage.cpu_usec)
		table_add(t, STYLE_FAINT, "-");
	else
		table_add(t, STYLE_BOLD, "%.1f%%",
			  100.0 * (double)(row->usage.cpu_usec - was->usage.cpu_usec) /
				  (double)usec);
}

static void top_fill_table(struct table *t, const struct look *look, const struct look *before)
{
	char time[CLOCK_TEXT_MAX], bytes[USAGE_TEXT_MAX];

	for (size_t i = 0; i < look->nodes.n; i++) {
		const struct node_view *node = &look->nodes.nodes[i];
		const struct row *row = &look->rows[i];

		table_add(t, STYLE_PLAIN, "%s", node_name(node->path));
		show_add_state(t, node);
		if (before)
			top_add_share(t, look, before, i);
		table_add(t, STYLE_PLAIN, "%s",
			  row->known ? clock_text(time, row->usage.cpu_usec) : "-");
		table_add(t, STYLE_PLAIN, "%s",
			  row->known ? usage_bytes_text(bytes, row->usage.memory) : "-");
		top_add_number(t, row->known, row->usage.processes);
		top_add_number(t, row->known, row->usage.descriptors);
		top_add_number(t, true, row->restarts);
	}
}

static int top_show_once(struct ctl *ctl, const char *path)
{
	cleanup(top_sample_done) struct look look = {};
	cleanup(table_done) struct table t = {};
	int r = top_take_sample(ctl, path, &look);

	if (r != CTL_DONE)
		return r;
	table_init_titles(&t, "NODE", "STATE", "CPU TIME", "MEMORY", "PROCESSES", "DESCRIPTORS",
			  "RESTARTS");
	top_fill_table(&t, &look, NULL);
	return ctl_print_table(ctl, &t);
}

static int top_redraw(struct ctl *ctl, const struct look *look, const struct look *before)
{
	cleanup(table_done) struct table t = {};
	char head[64];

	table_init_titles(&t, "NODE", "STATE", "CPU", "CPU TIME", "MEMORY", "PROCESSES",
			  "DESCRIPTORS", "RESTARTS");
	top_fill_table(&t, look, before);
	(void)snprintf(head, sizeof(head), "%zu nodes, every %d s", look->nodes.n,
		       TICK_MSEC / 1000);
	return screen_redraw(&ctl->out, head, &t);
}

static int top_show_live(struct ctl *ctl, const char *path)
{
	struct pollfd interrupt = { .fd = ctl->interrupt_fd, .events = POLLIN };
	cleanup(top_sample_done) struct look before = {};
	int r;

	do {
		struct look look;

		if (clock_now_usec() >= ctl->deadline_usec)
			return ctl_fail(ctl, -ETIMEDOUT);
		r = top_take_sample(ctl, path, &look);
		if (r != CTL_DONE)
			return r;
		r = top_redraw(ctl, &look, &before);
		top_sample_done(&before);
		before = look;
	} while (r == 0 && poll(&interrupt, 1, TICK_MSEC) <= 0);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

static json_t *top_json_number(bool known, uint64_t n)
{
	return message_number(known && n != USAGE_UNKNOWN ? n : UINT64_MAX);
}

static int top_collect(struct ctl *ctl, const char *path, json_t *all)
{
	cleanup(top_sample_done) struct look look = {};
	int r = top_take_sample(ctl, path, &look);

	for (size_t i = 0; r == CTL_DONE && i < look.nodes.n; i++) {
		const struct row *row = &look.rows[i];

		(void)json_array_append_new(
			all,
			json_pack("{s:s, s:o*, s:o*, s:o*, s:o*, s:o}", "path",
				  look.nodes.nodes[i].path, "cpu_usec",
				  top_json_number(row->known, row->usage.cpu_usec), "memory",
				  top_json_number(row->known, row->usage.memory), "processes",
				  top_json_number(row->known, row->usage.processes), "descriptors",
				  top_json_number(row->known, row->usage.descriptors), "restarts",
				  top_json_number(true, row->restarts)));
	}
	return r;
}

int cmd_top(struct ctl *ctl, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "nodes");
	const char *path = argv[0];
	int r;

	if (ctl->options.json) {
		r = top_collect(ctl, path, json_object_get(all, "nodes"));
		return r == CTL_DONE ? ctl_print_json(ctl, all) : r;
	}
	if (ctl->options.once || ctl->options.quiet || !ctl->out.terminal)
		return top_show_once(ctl, path);
	return top_show_live(ctl, path);
}
