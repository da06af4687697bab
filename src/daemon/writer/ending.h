#pragma once

/* The last work of the logger at the end of the daemon, without the loop of events. */

#include "daemon/writer/child.h"

/*
 * Waits until the process is ready, and starts it if it has died.
 *
 * Return: 0 if it was ready; 1 if it is now, and knows no stream; -ENOTSUP if it cannot be run; or
 * -ETIMEDOUT.
 */
int logger_child_begin(struct logger_child *child, uint64_t until_usec);

/* Waits until its socket may take more.  Returns false if it has ended, or at a timeout. */
bool logger_child_await_room(struct logger_child *child, uint64_t until_usec);

/*
 * Sends LOGGER_STOP and waits for the reply, after which the process ends.  One that does not answer
 * is killed.
 *
 * Return: more than 0; 0 if it has ended without a reply; or -ETIMEDOUT.
 */
int logger_child_stop(struct logger_child *child, uint64_t until_usec);

/* Waits for the end of a process that is stopped. */
void logger_child_await_end(struct logger_child *child, uint64_t until_usec);
