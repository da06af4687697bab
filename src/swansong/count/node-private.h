#pragma once

/* Functions of nodes for the other files of the library. */

#include "swansong/count/life-private.h"
#include "swansong/count/stop-private.h"

/* swansong_new() with an attachment, or NULL. */
int node_new_root(struct attachment *attachment, struct swansong **ret);

/* swansong_guard_count() for a node that needs no reference. */
uint64_t node_guard_count(struct swansong *s);

/*
 * Has all guards of the tree of @s recorded from now on.  Takes @records over and returns NULL;
 * returns @records if the tree has records already.
 */
struct records *node_track(struct swansong *s, struct records *records);
