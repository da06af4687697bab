/*
 * An exporter that may act sees the secrets, too, but its clients see no more than those of one that may
 * only look.
 */
#include "exporter/mirror/shown.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "proto/config/settings.h"
#include "proto/message.h"

struct shown_node {
	char *path;
	bool wanted;
	json_t *settings; /* NULL: not known, or an error */
};

static const char *shown_node_path(const void *thing)
{
	return ((const struct shown_node *)thing)->path;
}

void shown_init(struct shown *shown)
{
	*shown = (struct shown){ 0 };
	dict_init(&shown->by_path, shown_node_path);
}

static struct shown_node *shown_node_free(struct shown_node *node)
{
	if (!node)
		return NULL;
	json_decref(node->settings);
	free(node->path);
	free(node);
	return NULL;
}

void shown_done(struct shown *shown)
{
	for (size_t i = 0; i < shown->n; i++)
		shown_node_free(shown->nodes[i]);
	free(shown->nodes);
	dict_done(&shown->by_path);
}

void shown_forget(struct shown *shown)
{
	shown_done(shown);
	shown_init(shown);
}

json_t *shown_get(const struct shown *shown, const char *path)
{
	const struct shown_node *node = dict_find(&shown->by_path, path);

	return node ? node->settings : NULL;
}

/* Without memory, nothing is wanted. */
void shown_want(struct shown *shown, const char *path)
{
	struct shown_node *node, **nodes;

	if (dict_find(&shown->by_path, path))
		return;
	nodes = reallocarray(shown->nodes, shown->n + 1, sizeof(struct shown_node *));
	if (!nodes)
		return;
	shown->nodes = nodes;
	node = calloc(1, sizeof(*node));
	if (!node)
		return;
	node->path = strdup(path);
	node->wanted = true;
	if (node->path && dict_add(&shown->by_path, node) == 0)
		nodes[shown->n++] = node;
	else
		shown_node_free(node);
}

const char *shown_next(const struct shown *shown)
{
	for (size_t i = 0; i < shown->n; i++)
		if (shown->nodes[i]->wanted)
			return shown->nodes[i]->path;
	return NULL;
}

/* --- replies --- */

/* "web.ini:12"; "run" for a node of no file.  NULL: without memory. */
static json_t *shown_origin_of(const json_t *setting)
{
	const char *file = message_get_string(setting, "file", NULL);
	const char *slash = file ? strrchr(file, '/') : NULL;
	cleanup(freep) char *text = NULL;

	if (!file)
		return json_string("run");
	if (asprintf(&text, "%s:%" JSON_INTEGER_FORMAT, slash ? slash + 1 : file,
		     json_integer_value(json_object_get(setting, "line"))) < 0)
		text = NULL;
	return text ? message_string(text) : NULL;
}

static json_t *shown_describe_setting(const json_t *setting)
{
	const char *key = message_get_text(setting, "key");
	const char *value = message_get_string(setting, "value", NULL);
	bool hidden = settings_are_secret(key);

	return json_pack("{s:s, s:o*, s:o*, s:o*}", "key", key, "value",
			 value && !hidden ? message_string(value) : NULL, "origin",
			 shown_origin_of(setting), "hidden", hidden ? json_true() : NULL);
}

static bool shown_is_before(const json_t *a, const json_t *b)
{
	int r = strcmp(message_get_text(a, "file"), message_get_text(b, "file"));

	return r < 0 || (r == 0 && json_integer_value(json_object_get(a, "line")) <
					   json_integer_value(json_object_get(b, "line")));
}

/* Commands of one key stay in their order. */
static json_t *shown_describe_settings(const json_t *list)
{
	json_t *sorted = json_array(), *all = json_array(), *setting;
	size_t i, at;

	json_array_foreach ((json_t *)(uintptr_t)list, i, setting) {
		if (strcmp(message_get_text(setting, "origin"), "default") == 0)
			continue;
		at = json_array_size(sorted);
		while (at > 0 && shown_is_before(setting, json_array_get(sorted, at - 1)))
			at--;
		(void)json_array_insert(sorted, at, setting);
	}
	json_array_foreach (sorted, i, setting)
		(void)json_array_append_new(all, shown_describe_setting(setting));
	json_decref(sorted);
	return all;
}

void shown_take(struct shown *shown, const char *path, const json_t *reply)
{
	struct shown_node *node = dict_find(&shown->by_path, path);

	node->wanted = false;
	if (reply)
		node->settings = shown_describe_settings(json_object_get(reply, "settings"));
}
