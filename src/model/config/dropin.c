/*
 * A drop-in file is read before the file that it overrides, so that each key of a section is parsed
 * once, with the value that counts.  Of a key that several drop-ins have, the entries of the last
 * file are kept; all of them, as some keys may be repeated.
 */
#include "model/config/dropin.h"

DEFINE_DICT_NAME(dropin_name_of, struct dropin, name)

void dropins_init(struct dropins *dropins)
{
	*dropins = (struct dropins){ .list = NULL };
	dict_init(&dropins->by_name, dropin_name_of);
}

static void dropin_entry_done(struct dropin_entry *entry)
{
	free(entry->key);
	free(entry->value);
}

static struct dropin *dropin_free(struct dropin *dropin)
{
	if (!dropin)
		return NULL;
	for (size_t i = 0; i < dropin->n; i++)
		dropin_entry_done(&dropin->entries[i]);
	free(dropin->entries);
	free(dropin->name);
	return free_memory(dropin);
}
DEFINE_CLEANUP(struct dropin *, dropin_free)

void dropins_done(struct dropins *dropins)
{
	dict_done(&dropins->by_name);
	for (size_t i = 0; i < dropins->n; i++)
		dropin_free(dropins->list[i]);
	free(dropins->list);
}

struct dropin *dropins_find(const struct dropins *dropins, const char *name)
{
	return dict_find(&dropins->by_name, name);
}

static int dropins_add(struct dropins *dropins, const char *name, struct place place)
{
	cleanup(dropin_freep) struct dropin *dropin = calloc(1, sizeof(*dropin));

	if (!dropin || array_reserve(dropins->list, dropins->n) < 0)
		return -ENOMEM;
	dropin->place = dropin->last = place;
	dropin->name = strdup(name);
	if (!dropin->name || dict_add(&dropins->by_name, dropin) < 0)
		return -ENOMEM;
	dropins->current = dropins->list[dropins->n++] = take(dropin);
	return 0;
}

int dropins_section(struct dropins *dropins, const char *name, struct place place,
		    struct diag *diag)
{
	struct dropin *dropin = dropins_find(dropins, name);

	if (!dropin)
		return dropins_add(dropins, name, place);
	if (*name && dropin->last.file == place.file)
		diag_add(diag, DIAG_ERROR, place, "[%s] duplicate section (first in %s:%u)", name,
			 place.file, dropin->last.line);
	dropin->last = place;
	dropins->current = dropin;
	return 0;
}

static void dropin_forget_earlier(struct dropin *dropin, const char *key, const char *file)
{
	size_t kept = 0;

	for (size_t i = 0; i < dropin->n; i++) {
		struct dropin_entry *entry = &dropin->entries[i];

		if (entry->place.file != file && strcmp(entry->key, key) == 0)
			dropin_entry_done(entry);
		else
			dropin->entries[kept++] = *entry;
	}
	dropin->n = kept;
}

int dropins_entry(struct dropins *dropins, const char *key, const char *value, struct place place)
{
	struct dropin *dropin = dropins->current;
	struct dropin_entry entry = { .place = place, .key = strdup(key), .value = strdup(value) };

	if (array_reserve(dropin->entries, dropin->n) < 0 || !entry.key || !entry.value) {
		dropin_entry_done(&entry);
		return -ENOMEM;
	}
	if (place.file != dropin->place.file)
		dropin_forget_earlier(dropin, key, place.file);
	dropin->entries[dropin->n++] = entry;
	return 0;
}

bool dropin_has(const struct dropin *dropin, const char *key)
{
	for (size_t i = 0; i < dropin->n; i++)
		if (strcmp(dropin->entries[i].key, key) == 0)
			return true;
	return false;
}

/* --- templates: stored as text, because a value can only be parsed for its instance: %i differs --- */

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
	int r = 0;

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
