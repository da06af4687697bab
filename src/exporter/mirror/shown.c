/*
 * An object has a member for each node, by its path: null while the settings have to be asked for, then the
 * settings, or false for an error.
 *
 * An exporter that may act sees the secrets, too, but its clients see no more than those of one that may
 * only look.
 */
#include "exporter/mirror/shown.h"

#include "proto/config/settings.h"
#include "proto/message.h"

void shown_forget(struct shown *shown)
{
	json_decref(shown->nodes);
	shown->nodes = NULL;
}

json_t *shown_get(const struct shown *shown, const char *path)
{
	json_t *settings = json_object_get(shown->nodes, path);

	return json_is_array(settings) ? settings : NULL;
}

/* Without memory, nothing is wanted. */
void shown_want(struct shown *shown, const char *path)
{
	if (!shown->nodes)
		shown->nodes = json_object();
	if (!json_object_get(shown->nodes, path))
		(void)json_object_set_new(shown->nodes, path, json_null());
}

const char *shown_next(const struct shown *shown)
{
	const char *path;
	json_t *settings;

	json_object_foreach (shown->nodes, path, settings)
		if (json_is_null(settings))
			return path;
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
	text = text_format("%s:%" JSON_INTEGER_FORMAT, slash ? slash + 1 : file,
			   json_integer_value(json_object_get(setting, "line")));
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
	const json_t *list = json_object_get(reply, "settings");
	json_t *settings = reply ? shown_describe_settings(list) : NULL;

	(void)json_object_set_new(shown->nodes, path, settings ? settings : json_false());
}
