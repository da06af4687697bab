#pragma once

/* Messages to the daemon, which wait here if it does not take them. */

#include "logger/loop/state.h"

void reply_send(struct logger *logger, struct logger_message *message, const char *text);

/* Sends what waits. */
void reply_flush(struct logger *logger);
void reply_done(struct logger *logger);
