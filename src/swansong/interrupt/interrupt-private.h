#pragma once

/* What the wrappers need of an interrupt beside its public face. */

struct swansong_interrupt;

/*
 * The node's own descriptor, readable once interrupted: shared by all who wait, so that waiting
 * costs one descriptor for each node and not for each interrupt.  Or -errno.
 */
int interrupt_poll_fd(struct swansong_interrupt *i);
