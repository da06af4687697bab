#pragma once

/*
 * The starts of services that the daemon remembers, in the form of a report: a lane for each attempt,
 * from its first state until the service was up or had failed.
 */

#include "proto/report.h"

/*
 * Makes a report of @reply, {"events": [Event]}, with a lane for each start; one that has failed is
 * late.  Borrows @reply and @host; *ret is to be freed by report_done().
 *
 * Return: 0; -EBADMSG: other events; -ENOMEM.
 */
int starts_report(const json_t *reply, const char *host, struct report *ret);
