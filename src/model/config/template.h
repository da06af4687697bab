#pragma once

/*
 * Templates: sections whose name ends with '@'.  What such a section says is remembered as it is
 * written, and said again for every instance that does not say it itself.
 */

#include "model/keys/section.h"

struct template;

struct templates {
	struct template *list;
	size_t n;
};

/* Where the template of this name stands, or NULL.  Before templates_apply() only. */
const struct place *templates_find(const struct templates *templates, const char *name);

/*
 * A new one, for the following calls.  @file lives as long as the templates.  Return: 0 or -ENOMEM.
 */
int template_begin(struct templates *templates, const char *name, struct place place);

/* "@key = @value" in the last one.  Return: 0 or -ENOMEM. */
int template_add(struct templates *templates, unsigned line, const char *key, const char *value);

/* The last one is whole; a faulty one is not said again, as its mistakes are reported. */
void template_end(struct templates *templates, bool faulty);

/*
 * Repeats the entries of the templates in the sections of their instances.  A template without
 * instances is worth a warning.
 *
 * Return: 0 or -ENOMEM.
 */
int templates_apply(struct templates *templates, const struct reading *reading);

void templates_done(struct templates *templates);
