/*
 * Setting a key has three steps: find the key by name, check that the section may have it, parse
 * the value into its setting.  Each step has its own error.
 */
#include "model/keys/section.h"

#include "model/base/nodes.h"
#include "model/file/substitute.h"

int section_title_length(const struct node_config *node, enum key_id key)
{
	const struct origin *origin = node_config_origin(node, key);
	const char *title = node_config_section(node);

	return origin && origin->of_template ? (int)(strrchr(title, '@') + 1 - title)
					     : (int)strlen(title);
}

struct place section_place(const struct node_config *node, enum key_id key)
{
	const struct origin *origin = node_config_origin(node, key);

	return origin ? (struct place){ origin->file, origin->line }
		      : (struct place){ .file = node->place.file };
}

int section_set_origin(struct node_config *node, const struct origin *origin)
{
	struct origin *known = node_config_origin(node, origin->key);

	if (!known)
		return array_append(node->origins, node->n_origins, *origin);
	*known = *origin;
	return 0;
}

static void section_unknown_key(const struct node_config *node, struct place place,
				const char *name, struct diag *diag)
{
	const char *names[N_KEYS];
	const char *closest = NULL;

	for (size_t i = 0; i < N_KEYS; i++)
		names[i] = keys[i].name;
	if (diag_errors(diag) < DIAG_MAX)
		closest = text_closest(name, names, N_KEYS);
	diag_add(diag, DIAG_ERROR, place, "[%s] %s: unknown key: %s%s%s", node_config_section(node),
		 name, closest ? "did you mean '" : "see swansong.ini(5)", closest ? closest : "",
		 closest ? "'?" : "");
}

/*
 * Returns true if the section may have @key; a missing command is checked at the end of the
 * section.
 */
static bool key_is_in_place(const struct node_config *node, enum key_id key, struct place place,
			    struct diag *diag)
{
	const char *name = keys[key].name, *title = node_config_section(node), *why = NULL;
	bool root = !*node->path;

	if (keys[key].scope == SCOPE_ROOT && !root)
		why = "expected in [" CONFIG_ROOT_SECTION "]";
	else if (keys[key].scope == SCOPE_SERVICE && root)
		why = "expected in the section of a service";
	else if (keys[key].scope == SCOPE_TEMPLATE && !config_is_template(node->path))
		why = "expected in a template, as in [NAME@]";
	if (why)
		diag_add(diag, DIAG_ERROR, place, "[%s] %s: wrong section: %s", title, name, why);
	else if (node_config_line(node, key) && keys[key].part != PART_HOOKS)
		diag_add(diag, DIAG_ERROR, place, "[%s] %s: duplicate key (first set on line %u)",
			 title, name, node_config_line(node, key));
	else
		return true;
	return false;
}

/* Returns the setting of @key to be written.  NULL: out of memory. */
static void *section_field(struct config *config, struct node_config *node, const struct key *key)
{
	struct node_config *to = node;
	void *base;

	if (key->scope == SCOPE_INHERITED && !node->inherited) {
		node->inherited = malloc(sizeof(*node->inherited));
		if (!node->inherited)
			return NULL;
		node_config_init(node->inherited, node->path);
	}
	base = to = key->scope == SCOPE_INHERITED ? node->inherited : node;
	if (key->part < N_PARTS)
		base = node_config_own_part(to, key->part);
	else if (key->part == PART_CONFIG)
		base = config;
	return base ? (char *)base + key->offset : NULL;
}

/* Adds the error of @value, if @r is an error of the value; -ENOMEM and -ENOSYS are returned. */
static int section_refuse(const struct node_config *node, enum key_id key,
			  const struct value *value, int r, struct diag *diag)
{
	char excerpt[DIAG_EXCERPT_MAX];

	if (r == -ENOMEM || r == -ENOSYS)
		return r;
	if (r < 0)
		section_error(node, diag, key, "invalid value '%s': %s%sexpected %s",
			      diag_excerpt(excerpt, value->text), value->why ? value->why : "",
			      value->why ? "; " : "", value->type->expected);
	return 0;
}

static int section_set_key(const struct reading *reading, struct node_config *node,
			   const struct origin *origin, const char *text)
{
	enum key_id key = origin->key;
	struct value value = { .text = text, .type = keys[key].type, .names = reading->names };
	void *field = section_field(reading->config, node, &keys[key]);
	cleanup(freep) char *replaced = NULL;
	int r;

	if (!field || section_set_origin(node, origin) < 0)
		return -ENOMEM;
	r = strstr(text, "%{") ? substitute_variables(text, &replaced) : 0;
	if (r == -EINVAL)
		r = value_refuse(&value, "the variable of a %{NAME} is not set");
	else if (replaced)
		value.text = replaced;
	return section_refuse(node, key, &value, r < 0 ? r : type_parse(&value, field),
			      reading->diag);
}

int section_set(const struct reading *reading, struct node_config *node, struct place place,
		const char *name, const char *text)
{
	enum key_id key = key_find(name);

	if (key == N_KEYS)
		section_unknown_key(node, place, name, reading->diag);
	else if (key_is_in_place(node, key, place, reading->diag))
		return section_set_key(reading, node,
				       &(struct origin){ place.file, place.line, key, false },
				       text);
	return 0;
}

int section_set_default(const struct reading *reading, struct node_config *node, struct place place,
			const char *name, const char *text)
{
	enum key_id key = key_find(name);
	const struct origin *known = node_config_origin(node, key);

	/* Errors of the template itself have been reported already. */
	if (key == N_KEYS || keys[key].scope == SCOPE_TEMPLATE || (known && !known->of_template))
		return 0;
	return section_set_key(reading, node, &(struct origin){ place.file, place.line, key, true },
			       text);
}

int section_resolve(struct node_config *node, enum key_id key, struct diag *diag)
{
	const struct type *type = keys[key].type;

	if (!type->resolve)
		return 0;

	struct value value = { .type = type, .path = node->path };
	int r = type->resolve(&value, section_field(NULL, node, &keys[key]));

	return section_refuse(node, key, &value, r, diag);
}

struct key_source key_source_of(const struct node_config *node, enum key_id key)
{
	const struct node_config *from = node;
	const struct origin *origin = node_config_origin(node, key);

	while (!origin && keys[key].scope == SCOPE_INHERITED && (from = from->parent))
		origin = node_config_origin(from, key);
	if (!origin)
		return (struct key_source){ .origin = ORIGIN_DEFAULT };
	return (struct key_source){
		.origin = from != node		? ORIGIN_INHERITED
			  : origin->of_template ? ORIGIN_TEMPLATE
						: ORIGIN_SECTION,
		.node = from,
		.place = { origin->file, origin->line },
	};
}
