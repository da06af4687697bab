#pragma once

/* A check by a connection, alone or as the first part of another kind. */

#include "daemon/probe/attempt.h"

extern const struct probe_kind_ops probe_connect_ops;

/* Connects to the configured address; @on_io is called for @events then.  Return: 0 or -errno. */
int probe_connect(struct probe *probe, uint32_t events, sd_event_io_handler_t on_io);

/* Returns the result of the connection: 0 or -errno. */
int probe_connected(struct probe *probe);
void probe_disconnect(struct probe *probe);
