#pragma once

/* Functions of a loop for the other files of the library. */

#include "swansong/loop/gate-private.h"
#include <swansong/loop.h>

/* Posts @post, whose run() is set.  Returns 0 or -ESHUTDOWN. */
int loop_post(struct swansong_loop *l, struct post *post);

/*
 * Ends the thread in a process that a function on the loop's thread has forked: the sd_event does
 * not work there.
 */
void loop_end_if_forked(const struct swansong_loop *l);

/* Holds the loop's memory, so that posts to it are refused after its end.  Returns @l. */
struct swansong_loop *loop_hold(struct swansong_loop *l);
void loop_release(struct swansong_loop *l);
