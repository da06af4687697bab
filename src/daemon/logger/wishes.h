#pragma once

/* What the logger is still to be told of each stream. */

#include <stdbool.h>

#include "daemon/logger/state.h"

/* In the order in which they are sent. */
enum wish { WISH_ADD, WISH_CHANGE, WISH_REOPEN, WISH_FLUSH, WISH_REMOVE, N_WISHES };

/* It is sent with others: soon, or in this turn.  Nothing for a stream that has never had a pipe. */
void log_stream_wish(struct log_stream *stream, enum wish wish);

/* Sends what the socket takes.  Returns true if that is all; else @on_writable of the child follows. */
bool logger_send_wishes(struct logger *logger);

/* Another logger is ready: it knows nothing but the store. */
void logger_renew_wishes(struct logger *logger);
