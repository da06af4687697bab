#pragma once

/* Writes the keys of a section to the settings of its node. */

#include "model/keys/keys.h"

/* The context of reading, the same for all sections of a configuration. */
struct reading {
	struct config *config;
	const struct config_names *names;
	struct diag *diag;
};

/* The file and line of @key in the section of @node. */
struct place section_place(const struct node_config *node, enum key_id key);

/* Of the name of that section: "web@" of node "web@1", if the template has the key. */
int section_title_length(const struct node_config *node, enum key_id key);

/* Notes where a key of the section of @node is set, in place of what was noted.  Return: 0 or -ENOMEM. */
int section_set_origin(struct node_config *node, const struct origin *origin);

/* Where the value of @key for @node comes from, in a configuration that has been read. */
struct key_source {
	enum key_origin {
		ORIGIN_DEFAULT,
		ORIGIN_SECTION,
		ORIGIN_TEMPLATE,
		ORIGIN_INHERITED
	} origin;
	const struct node_config *node; /* whose section has the key; NULL: a default */
	struct place place;
};

struct key_source key_source_of(const struct node_config *node, enum key_id key);

/* An error or a warning of @key in the section of @node, in the one format there is. */
#define section_report(node, diag, level, key, format, ...)                                        \
	diag_add((diag), (level), section_place((node), (key)), "[%.*s] %s: " format,              \
		 section_title_length((node), (key)), node_config_section(node), keys[(key)].name, \
		 ##__VA_ARGS__)
#define section_error(node, diag, key, ...) section_report(node, diag, DIAG_ERROR, key, __VA_ARGS__)
#define section_warn(node, diag, key, ...) \
	section_report(node, diag, DIAG_WARNING, key, __VA_ARGS__)

/*
 * Reads "@name = @text" at @place into @node.  Errors go to the diag.
 *
 * Return: 0 or -ENOMEM.
 */
int section_set(const struct reading *reading, struct node_config *node, struct place place,
		const char *name, const char *text);

/* The same for a key of a template.  A key of the section itself is kept. */
int section_set_default(const struct reading *reading, struct node_config *node, struct place place,
			const char *name, const char *text);

/*
 * Replaces the value of @key, which must be set, by its meaning for @node.  Return: 0 or -ENOMEM.
 */
int section_resolve(struct node_config *node, enum key_id key, struct diag *diag);
