#pragma once

/* The functions of nodes that are for the files of the library. */

#include "swansong/count/life-private.h"
#include "swansong/count/object-private.h"
#include "swansong/count/stop-private.h"

/* swansong_new() with an attachment, or NULL. */
int node_new_root(struct attachment *attachment, struct swansong **ret);

/* swansong_guard_count(), also of a node that nobody has a reference to. */
uint64_t node_guard_count(struct swansong *s);

/*
 * Has all guards of the tree of @s recorded from now on.  Takes @records over and returns NULL, or
 * returns @records if there are some.
 */
struct records *node_track(struct swansong *s, struct records *records);
