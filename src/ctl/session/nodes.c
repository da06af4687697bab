/*
 * A status may be several replies, which nodes_fetch() joins into one.  nodes_resolve() turns arguments
 * into paths: only a glob or a template needs the list of nodes, which is fetched once.
 */
#include "ctl/session/nodes.h"

#include <fnmatch.h>

#include "model/base/nodes.h"

#define NODES_MAX (1 << 20) /* in all replies together */

/* All replies as one: the nodes of the others are added to those of the first. */
static int nodes_receive_all(struct ctl *ctl, struct message_reply *ret)
{
	struct message_reply reply = {}, next;
	int r = session_receive(ctl, &reply);
	json_t *nodes = json_object_get(reply.parameters, "nodes");

	while (r == CTL_DONE && reply.continues) {
		r = session_receive(ctl, &next);
		if (r != CTL_DONE)
			break;
		if (json_array_extend(nodes, json_object_get(next.parameters, "nodes")) < 0 ||
		    json_array_size(nodes) > NODES_MAX)
			r = ctl_fail(ctl, -EBADMSG);
		reply.continues = next.continues;
		message_reply_done(&next);
	}
	if (r == CTL_DONE)
		*ret = reply;
	else
		message_reply_done(&reply);
	return r;
}

int nodes_fetch(struct ctl *ctl, const char *path, bool programs, struct nodes *ret)
{
	struct nodes nodes = {};
	int r = session_send(
		ctl, METHOD_STATUS,
		json_pack("{s:s, s:o*}", "node", path, "programs", programs ? json_true() : NULL),
		MESSAGE_MORE);

	if (r == CTL_DONE)
		r = nodes_receive_all(ctl, &nodes.reply);
	if (r == CTL_DONE)
		r = node_view_parse_array(nodes.reply.parameters, "nodes", &nodes.nodes, &nodes.n);
	if (r < 0)
		r = ctl_fail(ctl, r);
	if (r == CTL_DONE)
		*ret = nodes;
	else
		nodes_done(&nodes);
	return r;
}

void nodes_done(struct nodes *nodes)
{
	free(nodes->nodes);
	message_reply_done(&nodes->reply);
	*nodes = (struct nodes){};
}

/* Returns true for a glob, and for the name of a template, which is all of its instances. */
static bool nodes_is_glob(const char *arg)
{
	return config_is_template(arg) || strpbrk(arg, "*?[");
}

/* The paths are the names of an object: each is there once, and they stay in their order. */
static int nodes_add_matching(struct ctl *ctl, json_t *paths, const char *glob,
			      const struct nodes *nodes)
{
	bool found = false, is_template = config_is_template(glob) && !strpbrk(glob, "*?[");

	(void)screen_set_locale(); /* a ? is a character */
	for (size_t i = 0; i < nodes->n; i++) {
		const char *path = nodes->nodes[i].path;

		/* The root is called /, which no glob matches. */
		if (!*path || (is_template ? !config_is_instance(path, glob)
					   : fnmatch(glob, path, FNM_PATHNAME) != 0))
			continue;
		found = true;
		if (json_object_set_new(paths, path, json_true()) < 0)
			return ctl_fail(ctl, -ENOMEM);
	}
	return found ? CTL_DONE : ctl_refuse(ctl, CTL_NO_NODE, "%s: no node matches", glob);
}

/* Pointers and strings in one piece, so that they outlive the reply they come from. */
static char **nodes_copy_paths(json_t *paths)
{
	size_t pointers = (json_object_size(paths) + 1) * sizeof(char *), size = pointers, n = 0;
	const char *path;
	json_t *value;
	char **copy, *out;

	json_object_foreach (paths, path, value)
		size += strlen(path) + 1;
	copy = malloc(size);
	if (!copy)
		return NULL;
	out = (char *)copy + pointers;
	json_object_foreach (paths, path, value) {
		copy[n++] = out;
		out = stpcpy(out, path) + 1;
	}
	copy[n] = NULL;
	return copy;
}

int nodes_resolve(struct ctl *ctl, char *const *args, size_t n_args, char ***ret)
{
	cleanup(nodes_done) struct nodes nodes = {};
	cleanup(json_decrefp) json_t *paths = json_object();
	bool globs = false;
	int r = CTL_DONE;

	for (size_t i = 0; i < n_args; i++)
		globs |= nodes_is_glob(args[i]);
	if (globs)
		r = nodes_fetch(ctl, "", false, &nodes);
	if (!n_args)
		(void)json_object_set_new(paths, "", json_true());
	for (size_t i = 0; r == CTL_DONE && i < n_args; i++) {
		const char *path = strcmp(args[i], "/") == 0 ? "" : args[i];

		if (nodes_is_glob(path))
			r = nodes_add_matching(ctl, paths, path, &nodes);
		else if (json_object_set_new(paths, path, json_true()) < 0)
			/* A path that is not UTF-8 is the path of no node. */
			r = ctl_refuse(ctl, CTL_NO_NODE, "%s: no such node", path);
	}
	if (r != CTL_DONE)
		return r;
	*ret = nodes_copy_paths(paths);
	return *ret ? CTL_DONE : ctl_fail(ctl, -ENOMEM);
}
