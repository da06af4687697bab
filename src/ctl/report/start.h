#pragma once

/* The starts of services that the daemon remembers, in the form of a report. */

#include "ctl/session/session.h"
#include "proto/report.h"

/*
 * Asks the daemon for its events, and calls @show with the starts of @node and of all below it; NULL is
 * the root.
 *
 * Return: the exit status.
 */
int start_run(struct ctl *ctl, const char *node,
	      int (*show)(struct ctl *ctl, const struct report *report));
