#pragma once

/*
 * The logger: takes the output of services and writes it to its destinations.  It knows streams and
 * rules, which the daemon sends (proto/logger-message.h), and waits for nothing but events.
 */

#include "logger/loop/state.h"

/* Prepares a logger of zeroes.  Return: 0 or -errno. */
int logger_init(struct logger *logger, int control, int store);

/*
 * The streams are not freed: the end of the process gives them back, all at once.  Return: false if a
 * helper is still at work.
 */
bool logger_done(struct logger *logger);

/*
 * Works until LOGGER_STOP is done, or until the daemon and every process that could write have ended
 * and all that was in the pipes is written.  @control is the socket of the daemon, @store the store.
 *
 * The caller ends the process by _exit(): it has the memory and the descriptors of the streams.
 */
int logger_run(int control, int store);
