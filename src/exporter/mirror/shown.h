#pragma once

/*
 * The settings of nodes, as far as they were asked for: a reply is kept until the configuration is
 * another one, so that clients cannot make the daemon work.
 */

#include <jansson.h>

struct shown {
	json_t *nodes; /* by their paths, in the order in which they were asked for; NULL: none */
};

/* Forgets all settings, and frees them.  Those that were wanted are not wanted any more. */
void shown_forget(struct shown *shown);

/*
 * Returns the settings that are set for the node, in the order of the files:
 * [{"key", "value", "origin": "web.ini:12"}], borrowed; NULL: they are not known.
 */
json_t *shown_get(const struct shown *shown, const char *path);

/* The settings of the node are to be asked for, unless they were. */
void shown_want(struct shown *shown, const char *path);

/* Returns the path of the node that is to be asked for first, or NULL: none is. */
const char *shown_next(const struct shown *shown);

/*
 * Takes the reply to Show for the node of shown_next(); NULL: an error, and the node is not asked for again.
 * Values that may be secret are left out.
 */
void shown_take(struct shown *shown, const char *path, const json_t *reply);
