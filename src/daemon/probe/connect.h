#pragma once

/* A look by a connection, alone or as the beginning of another kind of look. */

#include "daemon/probe/attempt.h"

extern const struct probe_kind_ops probe_connect_ops;

/* Connects to the configured address; then @on_io is called for @events.  Return: 0 or -errno. */
int probe_connect(struct probe *probe, uint32_t events, sd_event_io_handler_t on_io);

/* How the connection came about.  Return: 0 or -errno. */
int probe_connected(struct probe *probe);
void probe_disconnect(struct probe *probe);
