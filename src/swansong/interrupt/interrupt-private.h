#pragma once

/* Functions of an interrupt for the wrappers of system calls. */

#include <stdint.h>

struct swansong_interrupt;

/*
 * Returns the node's own descriptor, readable once the node is stopped or gone, or -errno.  All
 * threads that wait share it, so that waiting costs one descriptor for each node and not for each
 * interrupt.
 */
int interrupt_poll_fd(struct swansong_interrupt *i);

uint64_t interrupt_deadline(const struct swansong_interrupt *i);
