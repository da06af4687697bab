#include "ctl/nodes.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/dict.h"

static int fetch(struct ctl *ctl, enum interface_method method, const char *path,
		 int (*parse)(const json_t *, const char *, struct node_view **, size_t *),
		 struct nodes *ret)
{
	struct nodes nodes = {};
	int r;

	r = session_call(ctl, method, json_pack("{s:s}", "node", path), &nodes.reply);
	if (r != CTL_DONE)
		return r;
	r = parse(nodes.reply.parameters, "nodes", &nodes.nodes, &nodes.n);
	if (r < 0) {
		nodes_done(&nodes);
		return ctl_fail(ctl, r);
	}
	*ret = nodes;
	return CTL_DONE;
}

int nodes_fetch(struct ctl *ctl, const char *path, struct nodes *ret)
{
	return fetch(ctl, METHOD_STATUS, path, node_view_parse_array, ret);
}

int nodes_overview(struct ctl *ctl, const char *path, struct nodes *ret)
{
	return fetch(ctl, METHOD_OVERVIEW, path, node_view_parse_columns, ret);
}

void nodes_done(struct nodes *nodes)
{
	free(nodes->nodes);
	message_reply_done(&nodes->reply);
	*nodes = (struct nodes){};
}

int nodes_walk(struct ctl *ctl, const char *path, struct nodes_walk *ret)
{
	int r = session_call(ctl, METHOD_OVERVIEW, json_pack("{s:s}", "node", path), &ret->reply);

	if (r != CTL_DONE)
		return r;
	r = node_rows_init(&ret->rows, ret->reply.parameters, "nodes");
	if (r < 0) {
		nodes_walk_done(ret);
		return ctl_fail(ctl, r);
	}
	return CTL_DONE;
}

int nodes_walk_next(struct ctl *ctl, struct nodes_walk *walk, const struct node_view **ret)
{
	int r = node_rows_next(&walk->rows, ret);

	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

void nodes_walk_done(struct nodes_walk *walk)
{
	message_reply_done(&walk->reply);
}

/* No node's name has one of these. */
static bool is_glob(const char *arg)
{
	return strpbrk(arg, "*?[");
}

struct paths {
	const char **paths; /* borrowed */
	size_t n, size;
	struct dict known; /* those */
};

static const char *itself(const void *path)
{
	return path;
}

static int paths_add(struct paths *p, const char *path)
{
	if (dict_find(&p->known, path))
		return 0;
	if (p->n == p->size) {
		size_t size = p->size ? p->size * 2 : 16;
		const char **paths = reallocarray(p->paths, size, sizeof(*paths));

		if (!paths)
			return -ENOMEM;
		p->paths = paths;
		p->size = size;
	}
	p->paths[p->n++] = path;
	return dict_add(&p->known, (char *)path);
}

static int add_matching(struct ctl *ctl, struct paths *p, const char *glob,
			const struct nodes *nodes)
{
	bool found = false;

	(void)screen_set_locale(); /* a ? is a character */
	for (size_t i = 0; i < nodes->n; i++) {
		const char *path = nodes->nodes[i].path;

		/* Of the root the path is empty, as far as * goes; but it is called /. */
		if (!*path || fnmatch(glob, path, FNM_PATHNAME) != 0)
			continue;
		found = true;
		if (paths_add(p, path) < 0)
			return ctl_fail(ctl, -ENOMEM);
	}
	if (found)
		return CTL_DONE;
	log_line(&ctl->log, LOG_ERR, "%s: no node matches", glob);
	return CTL_NO_NODE;
}

/* Pointers and strings in one piece, so that they outlive the reply they come from. */
static char **copy_paths(const struct paths *p)
{
	size_t size = (p->n + 1) * sizeof(char *);
	char **copy;
	char *text;

	for (size_t i = 0; i < p->n; i++)
		size += strlen(p->paths[i]) + 1;
	copy = malloc(size);
	if (!copy)
		return NULL;
	text = (char *)(copy + p->n + 1);
	for (size_t i = 0; i < p->n; i++) {
		copy[i] = text;
		text = stpcpy(text, p->paths[i]) + 1;
	}
	copy[p->n] = NULL;
	return copy;
}

/* What is no text is no name either, and could not be asked for. */
static int add_path(struct ctl *ctl, struct paths *p, const char *path)
{
	cleanup(json_decrefp) json_t *name = json_string(path);

	if (!name) {
		log_line(&ctl->log, LOG_ERR, "%s: no such node", path);
		return CTL_NO_NODE;
	}
	return paths_add(p, path) < 0 ? ctl_fail(ctl, -ENOMEM) : CTL_DONE;
}

static int resolve(struct ctl *ctl, char *const *args, size_t n_args, const struct nodes *nodes,
		   struct paths *p)
{
	for (size_t i = 0; i < n_args; i++) {
		const char *path = strcmp(args[i], "/") == 0 ? "" : args[i];
		int r;

		if (is_glob(path))
			r = add_matching(ctl, p, path, nodes);
		else
			r = add_path(ctl, p, path);
		if (r != CTL_DONE)
			return r;
	}
	return CTL_DONE;
}

int nodes_resolve(struct ctl *ctl, char *const *args, size_t n_args, char ***ret)
{
	struct nodes nodes = {};
	struct paths paths = {};
	bool globs = false;
	char **copy = NULL;
	int r = CTL_DONE;

	dict_init(&paths.known, itself);
	for (size_t i = 0; i < n_args; i++)
		globs |= is_glob(args[i]);
	if (globs)
		r = nodes_overview(ctl, "", &nodes);
	if (r == CTL_DONE && !n_args && paths_add(&paths, "") < 0)
		r = ctl_fail(ctl, -ENOMEM);
	if (r == CTL_DONE)
		r = resolve(ctl, args, n_args, &nodes, &paths);
	if (r == CTL_DONE) {
		copy = copy_paths(&paths);
		if (copy)
			*ret = copy;
		else
			r = ctl_fail(ctl, -ENOMEM);
	}
	dict_done(&paths.known);
	free(paths.paths);
	nodes_done(&nodes);
	return r;
}
