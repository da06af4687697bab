#pragma once

/*
 * Templates: sections with a name that ends with '@'.  The keys of a template are stored as text,
 * and then set in every instance that does not have them in its own section.
 */

#include "model/keys/section.h"

struct template;

struct templates {
	struct template *list;
	size_t n;
};

/* The file and line of a template, or NULL.  Only before templates_apply(). */
const struct place *templates_find(const struct templates *templates, const char *name);

/*
 * Begins a template, which the following calls complete.  place.file must outlive the templates.
 * Return: 0 or -ENOMEM.
 */
int template_begin(struct templates *templates, const char *name, struct place place);

/* Adds "@key = @value" to the template.  Return: 0 or -ENOMEM. */
int template_add(struct templates *templates, struct place place, const char *key,
		 const char *value);

/* Ends the template.  A faulty one is not applied: its errors have been reported. */
void template_end(struct templates *templates, bool faulty);

/*
 * Sets the keys of the templates in the sections of their instances.  A template without instances
 * is a warning.
 *
 * Return: 0 or -ENOMEM.
 */
int templates_apply(struct templates *templates, const struct reading *reading);

void templates_done(struct templates *templates);
