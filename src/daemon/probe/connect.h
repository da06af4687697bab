#pragma once

/* A check by a connection, alone or as the first part of another kind. */

#include "daemon/probe/attempt.h"

extern const struct probe_kind_ops probe_connect_ops;

/* Connects to the configured address; @on_io is called then, unless the check has failed. */
void probe_connect(struct probe *probe, sd_event_io_handler_t on_io);

/* Returns true if the connection is made; else the check has failed. */
bool probe_connected(struct probe *probe);
void probe_disconnect(struct probe *probe);
