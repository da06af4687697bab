#pragma once

/*
 * Output for the system's log: each line of it becomes a message to the socket of syslogd.  Nobody
 * waits for syslogd: where it does not keep up messages are lost, and the next says how many; where
 * there is none, lines go to the daemon's own log.
 */

#include "daemon/loop/context.h"

struct syslog_output;

/* @tag, which must stay, begins each message.  Return: 0 or -errno. */
int syslog_new(struct syslog_output **ret, struct context *ctx, const char *tag);
struct syslog_output *syslog_free(struct syslog_output *syslog);

/* The end for the service. */
int syslog_fd(const struct syslog_output *syslog);
