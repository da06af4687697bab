/*
 * Setting a key has three steps: find the key by name, check that the section may have it, parse
 * the value into its setting.  Each step has its own error.
 */
#include "model/keys/section.h"

#include "model/base/nodes.h"
#include "model/file/substitute.h"

static bool section_is_of_template(const struct section *section, enum key_id key)
{
	return section->of_template[key / 64] >> key % 64 & 1;
}

int section_title_length(const struct node_config *node, enum key_id key)
{
	const char *title = node_config_section(node);

	return section_is_of_template(node->section, key) ? (int)(strrchr(title, '@') + 1 - title)
							  : (int)strlen(title);
}

struct place section_place(const struct node_config *node, enum key_id key)
{
	const struct section *section = node->section;
	const char *file =
		section_is_of_template(section, key) ? section->template_file : node->place.file;

	if (section->files && section->files[key])
		file = section->files[key];
	return (struct place){ .file = file, .line = section->lines[key] };
}

/* Notes where @key stands.  Return: 0 or -ENOMEM. */
static int section_set_place(struct node_config *node, enum key_id key, struct place place)
{
	struct section *section = node->section;

	section->lines[key] = place.line;
	if (section_place(node, key).file == place.file)
		return 0;
	if (!section->files)
		section->files = calloc(N_KEYS, sizeof(*section->files));
	if (!section->files)
		return -ENOMEM;
	section->files[key] = place.file;
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
	struct node_config *to = key->scope == SCOPE_INHERITED ? &node->section->stated : node;
	void *base = to;

	if (key->part < N_PARTS)
		base = node_config_own_part(to, key->part);
	else if (key->part == PART_CONFIG)
		base = config;
	return base ? (char *)base + key->offset : NULL;
}

/* Adds the error of @value, if @r is an error of the value.  Return: 0 or -ENOMEM. */
static int section_refuse(const struct node_config *node, enum key_id key,
			  const struct value *value, int r, struct diag *diag)
{
	char excerpt[DIAG_EXCERPT_MAX];

	if (r < 0 && r != -ENOMEM)
		section_error(node, diag, key, "invalid value '%s': %s%sexpected %s",
			      diag_excerpt(excerpt, value->text), value->why ? value->why : "",
			      value->why ? "; " : "", value->type->expected);
	return r == -ENOMEM ? r : 0;
}

static int section_set_key(const struct reading *reading, struct node_config *node, enum key_id key,
			   struct place place, const char *text)
{
	struct value value = { .text = text, .type = keys[key].type, .names = reading->names };
	struct section *section = node_config_own_section(node);
	void *field = section ? section_field(reading->config, node, &keys[key]) : NULL;

	cleanup(freep) char *replaced = NULL;
	int r;

	if (!field || section_set_place(node, key, place) < 0)
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
		return section_set_key(reading, node, key, place, text);
	return 0;
}

int section_set_default(const struct reading *reading, struct node_config *node, struct place place,
			const char *name, const char *text)
{
	struct section *section = node->section;
	enum key_id key = key_find(name);
	uint64_t bit = UINT64_C(1) << key % 64;

	/* Errors of the template itself have been reported already. */
	if (key == N_KEYS || keys[key].scope == SCOPE_TEMPLATE ||
	    (section->lines[key] && !(section->of_template[key / 64] & bit)))
		return 0;
	section->of_template[key / 64] |= bit;
	return section_set_key(reading, node, key, place, text);
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

int section_keep_origins(struct node_config *node)
{
	const struct section *section = node->section;
	struct origins *origins;
	size_t n = 0;

	for (enum key_id key = 0; section && key < N_KEYS; key++)
		n += section->lines[key] > 0;
	if (n == 0)
		return 0;
	origins = calloc(1, sizeof(*origins) + n * sizeof(origins->of[0]));
	if (!origins)
		return -ENOMEM;
	node->origins = origins;
	origins->template_file = section->template_file;
	if (section->files) {
		origins->files = malloc(N_KEYS * sizeof(*origins->files));
		if (!origins->files)
			return -ENOMEM;
		memcpy(origins->files, section->files, N_KEYS * sizeof(*origins->files));
	}
	for (enum key_id key = 0; key < N_KEYS; key++)
		if (section->lines[key])
			origins->of[origins->n++] = (struct origin){
				.line = section->lines[key],
				.of_template = section_is_of_template(section, key),
				.key = (uint8_t)key,
			};
	return 0;
}

static const struct origin *section_find_origin(const struct node_config *node, enum key_id key)
{
	const struct origins *origins = node->origins;

	for (size_t i = 0; origins && i < origins->n; i++)
		if (origins->of[i].key == key)
			return &origins->of[i];
	return NULL;
}

static struct place section_origin_place(const struct node_config *node,
					 const struct origin *origin)
{
	const struct origins *origins = node->origins;
	const char *file = origin->of_template ? origins->template_file : node->place.file;

	if (origins->files && origins->files[origin->key])
		file = origins->files[origin->key];
	return (struct place){ .file = file, .line = origin->line };
}

struct key_source key_source_of(const struct node_config *node, enum key_id key)
{
	const struct node_config *from = node;
	const struct origin *origin = section_find_origin(node, key);

	while (!origin && keys[key].scope == SCOPE_INHERITED && (from = from->parent))
		origin = section_find_origin(from, key);
	if (!origin)
		return (struct key_source){ .origin = ORIGIN_DEFAULT };
	return (struct key_source){
		.origin = from != node		? ORIGIN_INHERITED
			  : origin->of_template ? ORIGIN_TEMPLATE
						: ORIGIN_SECTION,
		.node = from,
		.place = section_origin_place(from, origin),
	};
}
