/*
 * Templates are stored as text, line by line, because a value can only be parsed for its instance:
 * %i differs.
 */
#include "model/config/template.h"

/* The template that @path is an instance of, or NULL. */
static struct dropin *template_of(const struct dropins *templates, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *at = strchr(slash ? slash : path, '@');
	char name[CONFIG_NAME_MAX + 1];

	if (!at || !at[1] || at - path + 1 >= (ptrdiff_t)sizeof(name))
		return NULL;
	*(char *)mempcpy(name, path, (size_t)(at - path) + 1) = '\0';
	return dropins_find(templates, name);
}

static int template_apply(const struct dropin *t, struct node_config *node,
			  const struct reading *reading)
{
	struct section *section = node_config_own_section(node);
	int r = 0;

	if (!section)
		return -ENOMEM;
	section->template_file = t->place.file;
	for (size_t i = 0; r == 0 && i < t->n; i++)
		r = section_set_default(reading, node, t->entries[i].place, t->entries[i].key,
					t->entries[i].value);
	return r;
}

int templates_apply(const struct dropins *templates, const struct reading *reading)
{
	const struct config *config = reading->config;
	int r = 0;

	for (size_t i = 0; r == 0 && i < config->n_nodes; i++) {
		struct dropin *t = template_of(templates, config->nodes[i]->path);

		if (!t)
			continue;
		t->applied = true;
		if (!t->faulty)
			r = template_apply(t, config->nodes[i], reading);
	}
	for (size_t i = 0; r == 0 && i < templates->n; i++) {
		const struct dropin *t = templates->list[i];

		if (!t->applied && !t->faulty)
			diag_add(reading->diag, DIAG_WARNING, t->place,
				 "[%s] template without instances: set instances", t->name);
	}
	return r;
}
