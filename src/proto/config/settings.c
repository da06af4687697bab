#include "proto/config/settings.h"

#include "model/keys/section.h"
#include "proto/message.h"

/*
 * The table of keys decides which keys count for the node, and how a value is shown.  A group has an inherited
 * key only by its own section.
 */

struct settings {
	const struct config *config;
	const struct node_config *node;
	bool transient; /* no file has it */
	bool trusted;
	char *directory; /* directory of this process, for relative names of files; or NULL */
	json_t *list;
};

static bool settings_is_of_node(const struct node_config *node, const struct key *key)
{
	switch (key->scope) {
	case SCOPE_ROOT:
		return !node->parent;
	case SCOPE_NODE:
		return true;
	case SCOPE_SERVICE:
		return node->argv;
	case SCOPE_INHERITED:
		return node->argv || (node->inherited &&
				      key_source_of(node, (enum key_id)(key - keys)).node == node);
	default:
		return false;
	}
}

static const void *settings_field_of(const struct settings *s, const struct key *key)
{
	const struct node_config *node = s->node;

	if (key->scope == SCOPE_ROOT)
		return key_field(key, s->config);
	return key_field(key,
			 key->scope == SCOPE_INHERITED && !node->argv ? node->inherited : node);
}

/* May hold passwords. */
bool settings_are_secret(const char *key)
{
	return strcmp(key, keys[KEY_ENVIRONMENT].name) == 0;
}

static json_t *settings_file_json(const struct settings *s, const char *file)
{
	cleanup(freep) char *path = NULL;

	if (!file || s->transient)
		return NULL;
	if (*file == '/' || !s->directory)
		return message_string(file);
	path = text_format("%s/%s", s->directory, file);
	return path ? message_string(path) : NULL;
}

static void settings_add_value(const struct settings *s, enum key_id key, json_t *value)
{
	static const char *const origins[] = {
		[ORIGIN_DEFAULT] = "default",
		[ORIGIN_SECTION] = "section",
		[ORIGIN_TEMPLATE] = "template",
		[ORIGIN_INHERITED] = "inherited",
	};
	struct key_source source = key_source_of(s->node, key);
	json_t *setting = json_pack("{s:s, s:s, s:o*}", "key", keys[key].name, "origin",
				    origins[source.origin], "value", value);

	if (source.node) {
		(void)json_object_set_new(setting, "section",
					  message_string(node_config_section(source.node)));
		(void)json_object_set_new(setting, "file",
					  settings_file_json(s, source.place.file));
		(void)json_object_set_new(setting, "line", json_integer(source.place.line));
	}
	if (settings_are_secret(keys[key].name) && !s->trusted && source.node)
		(void)json_object_set_new(setting, "hidden", json_true());
	(void)json_array_append_new(s->list, setting);
}

static json_t *settings_print_value(const struct type *type, const void *field)
{
	cleanup(freep) char *text = NULL;
	struct memstream m;

	if (memstream_open(&m) < 0)
		return NULL;
	type_print(type, m.file, field);
	return memstream_close(&m, &text) == 0 && *text ? message_string(text) : NULL;
}

/* Prints a word as parse_words() reads it, with each % doubled if substitution has been done. */
static void settings_print_word(FILE *file, const char *word, bool substituted)
{
	bool quoted = !*word || word[strspn(word, TEXT_LETTERS TEXT_DIGITS "%+,-./:=@_")];

	(void)fputs(quoted ? "'" : "", file);
	for (; *word; word++)
		(void)fprintf(file, "%s%c",
			      *word == '\''		    ? "'\\'"
			      : *word == '%' && substituted ? "%"
							    : "",
			      *word);
	(void)fputs(quoted ? "'" : "", file);
}

static json_t *settings_print_words(char *const *words, bool substituted)
{
	cleanup(freep) char *text = NULL;
	struct memstream m;

	if (memstream_open(&m) < 0)
		return NULL;
	for (size_t i = 0; words && words[i]; i++) {
		(void)fputs(i ? " " : "", m.file);
		settings_print_word(m.file, words[i], substituted);
	}
	return memstream_close(&m, &text) == 0 && *text ? message_string(text) : NULL;
}

static void settings_add_key(const struct settings *s, enum key_id key)
{
	const void *field = settings_field_of(s, &keys[key]);
	const struct commands *commands = keys[key].type == &type_commands ? field : NULL;

	if (key == KEY_COMMAND)
		settings_add_value(s, key, settings_print_words(s->node->argv, true));
	else if (settings_are_secret(keys[key].name))
		settings_add_value(
			s, key,
			s->trusted ? settings_print_words(*(char **const *)field, s->node->argv)
				   : NULL);
	else if (!commands || commands->n == 0)
		settings_add_value(s, key,
				   commands ? NULL : settings_print_value(keys[key].type, field));
	/* Each command is an entry of its own. */
	for (size_t i = 0; commands && i < commands->n; i++)
		settings_add_value(s, key, settings_print_words(commands->argv[i], true));
}

json_t *settings_json(const struct config *config, const struct node_config *node, bool transient,
		      bool trusted)
{
	cleanup(freep) char *directory = getcwd(NULL, 0);
	const struct settings s = {
		.config = config,
		.node = node,
		.transient = transient,
		.trusted = trusted,
		.directory = directory,
		.list = json_array(),
	};
	json_t *reply = json_pack("{s:s, s:b, s:o}", "node", node->path, "service",
				  node->argv != NULL, "settings", s.list);

	for (enum key_id key = 0; reply && key < N_KEYS; key++)
		if (settings_is_of_node(node, &keys[key]))
			settings_add_key(&s, key);
	if (node->place.file) {
		(void)json_object_set_new(reply, "file", settings_file_json(&s, node->place.file));
		(void)json_object_set_new(reply, "line", json_integer(node->place.line));
	}
	return reply;
}

const char *settings_find(const json_t *reply, const char *key)
{
	const json_t *settings = json_object_get(reply, "settings");
	size_t i;
	json_t *setting;

	json_array_foreach ((json_t *)(uintptr_t)settings, i, setting) {
		if (strcmp(message_get_text(setting, "key"), key) == 0)
			return message_get_string(setting, "value", NULL);
	}
	return NULL;
}
