#pragma once

/*
 * Drop-ins: sections that override those of the files beside which they stand.  They are read first
 * and kept as they are written; the section of the same name takes their keys instead of its own.
 *
 * Templates, sections with a name that ends with '@', are kept in the same way.  Their keys are then
 * set in every instance that does not have them in its own section.
 */

#include "model/keys/section.h"

/* The keys of one section, of all drop-ins that have it. */
struct dropin {
	char *name;
	struct place place, last; /* of the section in the first and in the last drop-in */
	bool applied;		  /* for the caller: its entries are part of a section */
	bool faulty;		  /* likewise: a template with errors, which have been reported */
	struct dropin_entry {
		struct place place;
		char *key, *value;
	} * entries;
	size_t n;
};

struct dropins {
	struct dict by_name;
	struct dropin **list; /* in the order of the files */
	size_t n;
	struct dropin *current; /* the section that entries are added to */
};

void dropins_init(struct dropins *dropins);
void dropins_done(struct dropins *dropins);

/*
 * Begins the section @name, "" for one with a faulty line.  @place.file outlives the dropins, and is
 * one pointer for one file.  A section that the file has already is a mistake.
 *
 * Return: 0 or -ENOMEM.
 */
int dropins_section(struct dropins *dropins, const char *name, struct place place,
		    struct diag *diag);

/* Adds "@key = @value", which replaces the key of earlier files.  Return: 0 or -ENOMEM. */
int dropins_entry(struct dropins *dropins, const char *key, const char *value, struct place place);

/* NULL if no drop-in has the section. */
struct dropin *dropins_find(const struct dropins *dropins, const char *name);

bool dropin_has(const struct dropin *dropin, const char *key);

/*
 * Sets the keys of the templates that are not faulty in the sections of their instances.  A template
 * without instances is a warning.
 *
 * Return: 0 or -ENOMEM.
 */
int templates_apply(const struct dropins *templates, const struct reading *reading);
