/*
 * A status may be several replies.  nodes_fetch() joins them into one; nodes_walk() has only one
 * of them at a time, for output that begins before all are there.  nodes_resolve() turns arguments
 * into paths: only a glob or a template needs the list of nodes, which is fetched once.
 */
#include "ctl/session/nodes.h"

#include <argz.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/dict.h"
#include "base/memstream.h"

#define NODES_MAX (1 << 20) /* in all replies together */

static int nodes_send_request(struct ctl *ctl, const char *path)
{
	json_t *parameters = json_pack("{s:s}", "node", path);
	int r = session_open(ctl);

	if (r == CTL_DONE)
		return session_send(ctl, METHOD_STATUS, parameters, MESSAGE_MORE);
	json_decref(parameters);
	return r;
}

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

static int nodes_parse_reply(struct ctl *ctl, struct nodes *nodes)
{
	int r = node_view_parse_array(nodes->reply.parameters, "nodes", &nodes->nodes, &nodes->n);

	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

int nodes_fetch(struct ctl *ctl, const char *path, struct nodes *ret)
{
	struct nodes nodes = {};
	int r = nodes_send_request(ctl, path);

	if (r == CTL_DONE)
		r = nodes_receive_all(ctl, &nodes.reply);
	if (r == CTL_DONE)
		r = nodes_parse_reply(ctl, &nodes);
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

static int nodes_walk_receive(struct ctl *ctl, struct nodes_walk *walk)
{
	int r;

	nodes_done(&walk->part);
	walk->next = 0;
	r = session_receive(ctl, &walk->part.reply);
	return r == CTL_DONE ? nodes_parse_reply(ctl, &walk->part) : r;
}

int nodes_walk(struct ctl *ctl, const char *path, struct nodes_walk *ret)
{
	struct nodes_walk walk = {};
	int r = nodes_send_request(ctl, path);

	if (r == CTL_DONE)
		r = nodes_walk_receive(ctl, &walk);
	if (r == CTL_DONE)
		*ret = walk;
	else
		nodes_walk_done(&walk);
	return r;
}

int nodes_walk_next(struct ctl *ctl, struct nodes_walk *walk, const struct node_view **ret)
{
	int r = CTL_DONE;

	while (r == CTL_DONE && walk->next == walk->part.n && walk->part.reply.continues)
		r = nodes_walk_receive(ctl, walk);
	if (r == CTL_DONE)
		*ret = walk->next < walk->part.n ? &walk->part.nodes[walk->next++] : NULL;
	return r;
}

void nodes_walk_done(struct nodes_walk *walk)
{
	nodes_done(&walk->part);
}

/* The name of a template, which is no node: all of its instances. */
static bool nodes_is_template(const char *arg)
{
	return *arg && arg[strlen(arg) - 1] == '@';
}

/* No node's name has one of these. */
static bool nodes_is_glob(const char *arg)
{
	return nodes_is_template(arg) || strpbrk(arg, "*?[");
}

static bool nodes_is_match(const char *glob, const char *path)
{
	if (nodes_is_template(glob) && !strpbrk(glob, "*?["))
		return strncmp(path, glob, strlen(glob)) == 0 && !strchr(path + strlen(glob), '/');
	return fnmatch(glob, path, FNM_PATHNAME) == 0;
}

struct paths {
	struct memstream argz; /* as argz_add(3) has it, which would copy all for each */
	size_t n, size;
	struct dict known; /* the same, borrowed */
};

static const char *nodes_path_itself(const void *path)
{
	return path;
}

static int nodes_add_to_paths(struct ctl *ctl, struct paths *p, const char *path)
{
	if (dict_find(&p->known, path))
		return CTL_DONE;
	p->n++;
	p->size += fwrite(path, 1, strlen(path) + 1, p->argz.file);
	return dict_add(&p->known, (char *)path) < 0 ? ctl_fail(ctl, -ENOMEM) : CTL_DONE;
}

static int nodes_add_matching(struct ctl *ctl, struct paths *p, const char *glob,
			      const struct nodes *nodes)
{
	bool found = false;
	int r = CTL_DONE;

	(void)screen_set_locale(); /* a ? is a character */
	for (size_t i = 0; r == CTL_DONE && i < nodes->n; i++) {
		const char *path = nodes->nodes[i].path;

		/* The root is called /, which no glob matches. */
		if (!*path || !nodes_is_match(glob, path))
			continue;
		found = true;
		r = nodes_add_to_paths(ctl, p, path);
	}
	if (found)
		return r;
	log_line(&ctl->log, LOG_ERR, "%s: no node matches", glob);
	return CTL_NO_NODE;
}

/* A path that is not UTF-8 is the path of no node, and no request can hold it. */
static int nodes_add_path(struct ctl *ctl, struct paths *p, const char *path)
{
	cleanup(json_decrefp) json_t *name = json_string(path);

	if (name)
		return nodes_add_to_paths(ctl, p, path);
	log_line(&ctl->log, LOG_ERR, "%s: no such node", path);
	return CTL_NO_NODE;
}

/* Pointers and strings in one piece, so that they outlive the reply they come from. */
static char **nodes_copy_paths(const struct paths *p, const char *argz)
{
	size_t pointers = (p->n + 1) * sizeof(char *);
	char **copy = malloc(pointers + p->size);

	if (copy)
		argz_extract(memcpy((char *)copy + pointers, argz, p->size), p->size, copy);
	return copy;
}

int nodes_resolve(struct ctl *ctl, char *const *args, size_t n_args, char ***ret)
{
	cleanup(nodes_done) struct nodes nodes = {};
	cleanup(freep) char *argz = NULL;
	struct paths paths = {};
	bool globs = false;
	int r = CTL_DONE;

	if (memstream_open(&paths.argz) < 0)
		return ctl_fail(ctl, -ENOMEM);
	dict_init(&paths.known, nodes_path_itself);
	for (size_t i = 0; i < n_args; i++)
		globs |= nodes_is_glob(args[i]);
	if (globs)
		r = nodes_fetch(ctl, "", &nodes);
	if (r == CTL_DONE && !n_args)
		r = nodes_add_to_paths(ctl, &paths, "");
	for (size_t i = 0; r == CTL_DONE && i < n_args; i++)
		r = nodes_is_glob(args[i])
			    ? nodes_add_matching(ctl, &paths, args[i], &nodes)
			    : nodes_add_path(ctl, &paths, strcmp(args[i], "/") == 0 ? "" : args[i]);
	dict_done(&paths.known);
	if (memstream_close(&paths.argz, &argz) < 0 && r == CTL_DONE)
		r = ctl_fail(ctl, -ENOMEM);
	if (r != CTL_DONE)
		return r;
	*ret = nodes_copy_paths(&paths, argz);
	return *ret ? CTL_DONE : ctl_fail(ctl, -ENOMEM);
}
