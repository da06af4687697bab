#include "ctl/commands/cmd.h"

#include "ctl/session/offline.h"
#include "proto/config/settings.h"

/*
 * The configuration of the running daemon, or of files: the settings of a node as a section that can be pasted,
 * the text of the sections that they are from, and its dependencies as a tree.
 */

static bool settings_is_origin(const json_t *setting, const char *origin)
{
	return strcmp(message_get_text(setting, "origin"), origin) == 0;
}

/* Prints a line of a file unchanged, except for control characters on a terminal. */
static void settings_print_line(struct ctl *ctl, const char *line)
{
	const unsigned char *c = (const unsigned char *)line;

	if (ctl->options.quiet)
		return;
	for (; *c; c++) {
		bool c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;

		(void)fputc((*c < ' ' && *c != '\t') || *c == 0x7f || c1 ? '?' : *c, ctl->out.file);
		c += c1;
	}
	(void)fputc('\n', ctl->out.file);
}

/* The reply of Show from the files of --config. */
static int settings_ask_files(struct ctl *ctl, const struct config *config, const char *name,
			      struct message_reply *ret)
{
	const struct node_config *node = offline_find(config, name);

	if (!node)
		return ctl_refuse(ctl, CTL_NO_NODE, "%s: no such node", name);
	ret->root = ret->parameters = settings_json(config, node, false, true);
	return CTL_DONE;
}

/* Calls @show with the reply of Show for each node, and a blank line between two. */
static int settings_for_each_node(struct ctl *ctl, char **argv,
				  int (*show)(struct ctl *ctl, const json_t *reply))
{
	const struct option_words *configs = &ctl->options.configs;
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "nodes");
	cleanup(config_unrefp) struct config *config = NULL;
	int r = CTL_DONE;

	if (configs->n > 0)
		r = offline_load(ctl, configs->words, configs->n, NULL, NULL, &config);
	for (size_t i = 0; r == CTL_DONE && argv[i]; i++) {
		cleanup(message_reply_done) struct message_reply reply = {};

		r = config ? settings_ask_files(ctl, config, argv[i], &reply)
			   : session_call(ctl, METHOD_SHOW, json_pack("{s:s}", "node", argv[i]),
					  &reply);
		if (r != CTL_DONE)
			return r;
		if (i > 0 && !ctl->options.json)
			ctl_print(ctl, "%s", "");
		if (!ctl->options.json)
			r = show(ctl, reply.parameters);
		else if (json_array_append(json_object_get(all, "nodes"), reply.parameters) < 0)
			r = ctl_fail(ctl, -ENOMEM);
	}
	return r == CTL_DONE && ctl->options.json ? ctl_print_json(ctl, all) : r;
}

/* --- show --- */

/* "web.ini:7", "inherited from [web], web.ini:7" */
static void settings_print_source(FILE *file, const json_t *setting)
{
	const char *name = message_get_text(setting, "file");

	if (settings_is_origin(setting, "template"))
		(void)fputs("template, ", file);
	else if (settings_is_origin(setting, "inherited"))
		(void)fprintf(file, "inherited from [%s], ", message_get_text(setting, "section"));
	if (*name)
		(void)fprintf(file, "%s:%" JSON_INTEGER_FORMAT, name,
			      json_integer_value(json_object_get(setting, "line")));
	else
		(void)fputs("of the client that has run it", file);
}

/* A value of several lines has no comment: there is no place after it. */
static void settings_print_one(FILE *file, const json_t *setting)
{
	const char *key = message_get_text(setting, "key"),
		   *value = message_get_text(setting, "value");
	bool hidden = json_is_true(json_object_get(setting, "hidden"));
	int width = 40 - (int)strlen(key) - 3;

	if (settings_is_origin(setting, "default")) {
		(void)fprintf(file, "# %s = %s\n", key, value);
		return;
	}
	if (hidden || strchr(value, '\n')) {
		(void)fputs(hidden ? "# hidden: " : "# ", file);
		settings_print_source(file, setting);
		(void)fprintf(file, "\n%s%s =", hidden ? "# " : "", key);
		(void)fputs(*value ? " " : "", file);
		for (; *value; value++)
			*value == '\n' ? (void)fputs("\n\t", file) : (void)fputc(*value, file);
		(void)fputc('\n', file);
		return;
	}
	(void)fprintf(file, "%s = %-*s ; ", key, width > 0 ? width : 0, value);
	settings_print_source(file, setting);
	(void)fputc('\n', file);
}

static int settings_print(struct ctl *ctl, const json_t *reply)
{
	const char *node = message_get_text(reply, "node");
	cleanup(freep) char *text = NULL;
	struct memstream m;
	json_t *setting;
	size_t i;

	if (memstream_open(&m) < 0)
		return ctl_fail(ctl, -ENOMEM);
	(void)fprintf(m.file, "[%s]\n", *node ? node : "swansong");
	json_array_foreach (json_object_get(reply, "settings"), i, setting) {
		bool has_value = *message_get_text(setting, "value");

		if (settings_is_origin(setting, "default") ? has_value && ctl->options.all : true)
			settings_print_one(m.file, setting);
	}
	if (memstream_close(&m, &text) < 0)
		return ctl_fail(ctl, -ENOMEM);
	for (char *rest = text, *line; (line = strsep(&rest, "\n")) && rest;)
		settings_print_line(ctl, line);
	return CTL_DONE;
}

int cmd_show(struct ctl *ctl, int argc, char **argv)
{
	return settings_for_each_node(ctl, argv, settings_print);
}

/* --- cat --- */

/* Returns true if the title "[NAME]" is that of the node itself, or of its template "[NAME@]". */
static bool settings_is_title_of(const char *title, const char *node, bool template)
{
	const char *name = title + 1, *own = *node ? node : "swansong";
	size_t length = strcspn(name, "]");

	if (template)
		return length > 1 && name[length - 1] == '@' && strncmp(name, node, length) == 0;
	return strncmp(name, own, length) == 0 && !own[length];
}

/* Prints the section of @node in @path, without the blank lines after it.  Return: found? or -errno. */
static int settings_print_section(struct ctl *ctl, const char *path, const char *node,
				  bool template)
{
	cleanup(freep) char *line = NULL;
	cleanup(fclosep) FILE *file = fopen(path, "re");
	unsigned blank = 0;
	bool inside = false, found = false;
	size_t size = 0;

	if (!file)
		return -errno;
	while (getline(&line, &size, file) >= 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (*line == '[' && strchr(line, ']')) {
			inside = settings_is_title_of(line, node, template);
			if (inside)
				ctl_print(ctl, "# %s", path);
			found |= inside;
			blank = 0;
		}
		if (!inside)
			continue;
		if (!line[strspn(line, " \t")]) {
			blank++;
			continue;
		}
		for (; blank > 0; blank--)
			ctl_print(ctl, "%s", "");
		settings_print_line(ctl, line);
	}
	return found;
}

/*
 * Prints the section of the node in @path, unless it is in @seen or empty.  Return: the number of
 * sections, or -errno with the file in *failed.
 */
static int settings_print_file(struct ctl *ctl, const char *path, const char *node, bool template,
			       json_t *seen, const char **failed)
{
	if (!*path || json_object_get(seen, path))
		return 0;
	(void)json_object_set_new(seen, path, json_true());
	*failed = path;
	return settings_print_section(ctl, path, node, template);
}

/* The same for @first and then the files from which settings of @origin come: its drop-ins. */
static int settings_print_files(struct ctl *ctl, const json_t *reply, const char *origin,
				const char *first, const char **failed)
{
	bool template = strcmp(origin, "template") == 0;
	cleanup(json_decrefp) json_t *seen = json_object();
	const char *node = message_get_text(reply, "node");
	int r = settings_print_file(ctl, first, node, template, seen, failed), n = r;
	json_t *setting;
	size_t i;

	json_array_foreach (json_object_get(reply, "settings"), i, setting) {
		if (r < 0 || !settings_is_origin(setting, origin))
			continue;
		r = settings_print_file(ctl, message_get_text(setting, "file"), node, template,
					seen, failed);
		n += r;
	}
	return r < 0 ? r : n;
}

static int settings_print_node_files(struct ctl *ctl, const json_t *reply)
{
	const char *node = message_get_text(reply, "node"), *own = message_get_text(reply, "file"),
		   *failed = own;
	int n = settings_print_files(ctl, reply, "template", "", &failed), r = n;

	if (r >= 0)
		r = settings_print_files(ctl, reply, "section", own, &failed);
	if (r < 0)
		log_line(&ctl->log, LOG_ERR, "%s: cannot read %s: %s", node_name(node), failed,
			 strerror(-r));
	else if (n + r == 0)
		log_line(&ctl->log, LOG_ERR, "%s: no file has a section of this node%s%s",
			 node_name(node), *own ? "; it is named in " : "", own);
	return r < 0 || n + r == 0 ? CTL_FAILED : CTL_DONE;
}

int cmd_cat(struct ctl *ctl, int argc, char **argv)
{
	return settings_for_each_node(ctl, argv, settings_print_node_files);
}

/* --- deps --- */

/* libsmartcols recurses. */
#define DEPTH_MAX 64

struct deps {
	struct ctl *ctl;
	const json_t *list;
	struct nodes nodes;
	struct table table;
	json_t *seen;	 /* the nodes that have been expanded */
	json_t *reached; /* the dependencies that were followed */
};

/* Returns the other end of the dependency from @path, or NULL.  A dependency on a group is one on all nodes in it. */
static const char *settings_target_of(const struct deps *d, const json_t *dependency,
				      const char *path)
{
	const char *from = message_get_text(dependency, "from"),
		   *to = message_get_text(dependency, "to");

	if (d->ctl->options.reverse)
		return text_is_within(path, to) ? from : NULL;
	return text_is_within(path, from) ? to : NULL;
}

static void settings_add_row(struct deps *d, const char *path, const char *kind, const char *of,
			     struct libscols_line *parent, struct libscols_line **ret)
{
	const struct node_view *view = NULL;

	for (size_t i = 0; i < d->nodes.n && !view; i++)
		if (strcmp(d->nodes.nodes[i].path, path) == 0)
			view = &d->nodes.nodes[i];
	*ret = table_begin_row(&d->table, parent);
	table_add(&d->table, STYLE_BOLD, "%s", node_name(path));
	table_add(&d->table, STYLE_PLAIN, "%s", kind);
	if (view)
		show_add_state(&d->table, view);
	else
		table_add(&d->table, STYLE_PLAIN, "%s", "");
	table_add(&d->table, STYLE_FAINT, "%s%s", *of ? "of " : "", of);
}

static void settings_add_dependencies(struct deps *d, const char *path, struct libscols_line *line,
				      unsigned depth)
{
	json_t *dependency;
	size_t i;

	if (depth == DEPTH_MAX || json_object_get(d->seen, path))
		return;
	(void)json_object_set_new(d->seen, path, json_true());
	json_array_foreach (d->list, i, dependency) {
		const char *target = settings_target_of(d, dependency, path);
		const char *own =
			message_get_text(dependency, d->ctl->options.reverse ? "to" : "from");
		struct libscols_line *below;

		if (!target)
			continue;
		(void)json_array_append(d->reached, dependency);
		settings_add_row(d, target, message_get_text(dependency, "kind"),
				 strcmp(own, path) == 0 ? "" : node_name(own), line, &below);
		settings_add_dependencies(d, target, below, depth + 1);
	}
}

static int settings_print_dependencies(struct ctl *ctl, const char *path, const json_t *list,
				       json_t *all)
{
	struct deps d = {
		.ctl = ctl, .list = list, .seen = json_object(), .reached = json_array()
	};
	struct libscols_line *top;
	int r = nodes_fetch(ctl, "", false, &d.nodes);

	table_init(&d.table, 4, NULL);
	if (r == CTL_DONE) {
		settings_add_row(&d, path, "", "", NULL, &top);
		settings_add_dependencies(&d, path, top, 0);
		(void)json_array_append_new(
			all, json_pack("{s:s, s:O}", "node", path, "dependencies", d.reached));
		r = ctl_print_table(ctl, &d.table);
	}
	table_done(&d.table);
	nodes_done(&d.nodes);
	json_decref(d.seen);
	json_decref(d.reached);
	return r;
}

int cmd_deps(struct ctl *ctl, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "nodes");
	int r = CTL_DONE;

	for (size_t i = 0; r == CTL_DONE && argv[i]; i++) {
		cleanup(message_reply_done) struct message_reply reply = {};

		r = session_call(ctl, METHOD_DEPENDENCIES, json_pack("{s:s}", "node", argv[i]),
				 &reply);
		if (r == CTL_DONE)
			r = settings_print_dependencies(
				ctl, message_get_text(reply.parameters, "node"),
				json_object_get(reply.parameters, "dependencies"),
				json_object_get(all, "nodes"));
	}
	return r == CTL_DONE && ctl->options.json ? ctl_print_json(ctl, all) : r;
}
