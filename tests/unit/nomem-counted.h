#pragma once

/*
 * nomem.h with what lives counted, instead of nomem.c.  Making an event, or a source of one, fails
 * likewise, and what sd-event needs for itself is left alone, too.  For programs linked with
 * $(nomem_counted_ldflags).
 */

#include <stdatomic.h>

#include "nomem.h"

/* The allocations of all threads that are not freed. */
extern _Atomic long live;
