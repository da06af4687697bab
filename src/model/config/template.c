/*
 * Templates are stored as text, line by line, because a value can only be parsed for its instance:
 * %i differs.  They are sorted once, when all files have been read.
 */
#include "model/config/template.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct place place;
	char *key, *value;
};

struct template
{
	char *name; /* with the '@' */
	struct place place;
	bool faulty, used;
	struct entry *entries;
	size_t n;
};

const struct place *templates_find(const struct templates *templates, const char *name)
{
	for (size_t i = 0; i < templates->n; i++) {
		if (strcmp(templates->list[i].name, name) == 0)
			return &templates->list[i].place;
	}
	return NULL;
}

int template_begin(struct templates *templates, const char *name, struct place place)
{
	struct template *list =
		reallocarray(templates->list, templates->n + 1, sizeof(*templates->list));
	char *copy = strdup(name);

	if (list)
		templates->list = list;
	if (!list || !copy) {
		free(copy);
		return -ENOMEM;
	}
	list[templates->n++] = (struct template){ .name = copy, .place = place };
	return 0;
}

int template_add(struct templates *templates, struct place place, const char *key,
		 const char *value)
{
	struct template *t = &templates->list[templates->n - 1];
	struct entry *entries = reallocarray(t->entries, t->n + 1, sizeof(*entries));
	struct entry *entry;

	if (!entries)
		return -ENOMEM;
	t->entries = entries;
	entry = &entries[t->n++];
	*entry = (struct entry){ .place = place, .key = strdup(key), .value = strdup(value) };
	return entry->key && entry->value ? 0 : -ENOMEM;
}

void template_end(struct templates *templates, bool faulty)
{
	templates->list[templates->n - 1].faulty = faulty;
}

static int template_compare_names(const void *a, const void *b)
{
	return strcmp(((const struct template *)a)->name, ((const struct template *)b)->name);
}

/* The template that @path is an instance of, or NULL. */
static struct template *template_of(const struct templates *templates, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *at = strchr(slash ? slash : path, '@');
	char name[CONFIG_NAME_MAX + 1];
	struct template key = { .name = name };

	if (!at || !at[1] || at - path + 1 >= (ptrdiff_t)sizeof(name))
		return NULL;
	*(char *)mempcpy(name, path, (size_t)(at - path) + 1) = '\0';
	return bsearch(&key, templates->list, templates->n, sizeof(key), template_compare_names);
}

static int template_apply(const struct template *t, struct node_config *node,
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

int templates_apply(struct templates *templates, const struct reading *reading)
{
	const struct config *config = reading->config;
	int r = 0;

	if (templates->n == 0)
		return 0;
	qsort(templates->list, templates->n, sizeof(*templates->list), template_compare_names);
	for (size_t i = 0; r == 0 && i < config->n_nodes; i++) {
		struct template *t = template_of(templates, config->nodes[i]->path);

		if (!t)
			continue;
		t->used = true;
		if (!t->faulty)
			r = template_apply(t, config->nodes[i], reading);
	}
	for (size_t i = 0; r == 0 && i < templates->n; i++) {
		const struct template *t = &templates->list[i];

		if (!t->used && !t->faulty)
			diag_add(reading->diag, DIAG_WARNING, t->place,
				 "[%s] template without instances: set instances", t->name);
	}
	return r;
}

void templates_done(struct templates *templates)
{
	for (size_t i = 0; i < templates->n; i++) {
		struct template *t = &templates->list[i];

		for (size_t j = 0; j < t->n; j++) {
			free(t->entries[j].key);
			free(t->entries[j].value);
		}
		free(t->entries);
		free(t->name);
	}
	free(templates->list);
	*templates = (struct templates){ .list = NULL };
}
