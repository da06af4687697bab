#pragma once

/* Messages about streams that are still to be sent to the logger. */

#include "daemon/logger/state.h"

/* In the order in which they are sent. */
enum wish { WISH_ADD, WISH_CHANGE, WISH_REOPEN, WISH_WATCH, WISH_FLUSH, WISH_REMOVE, N_WISHES };

/*
 * Adds a wish, which is sent with others in this turn or sooner.  A stream without a pipe so far
 * sends nothing.
 */
void log_stream_wish(struct log_stream *stream, enum wish wish);

/*
 * Sends as many wishes as the socket takes.  Returns true if none is left; otherwise @on_writable
 * of the child is called later.
 */
bool logging_send_wishes(struct logging *logger);

/* Replaces all wishes of @stream by those for a logger that does not know it; none if it is kept. */
void log_stream_renew_wishes(struct log_stream *stream);

/* Wishes all messages again, as another logger is ready, which knows nothing but the store. */
void logging_renew_wishes(struct logging *logger);
