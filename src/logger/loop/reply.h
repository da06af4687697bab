#pragma once

/* Sends messages to the daemon, and keeps them while its socket is full. */

#include "logger/loop/state.h"

void reply_send(struct logger *logger, struct logger_message *message, const char *text);

void reply_flush(struct logger *logger);
void reply_done(struct logger *logger);
