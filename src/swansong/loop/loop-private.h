#pragma once

/* Functions of a loop for the other files of the library. */

#include "swansong/loop/gate-private.h"
#include <swansong/loop.h>

/* Posts @post, whose run() is set.  Returns 0 or -ESHUTDOWN. */
int loop_post(struct swansong_loop *l, struct post *post);

/* Holds the loop's memory, so that posts to it are refused after its end.  Returns @l. */
struct swansong_loop *loop_hold(struct swansong_loop *l);
void loop_release(struct swansong_loop *l);
