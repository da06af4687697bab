#pragma once

/*
 * Which output of a node the logger writes, where to, and how: a function of its settings and of the
 * daemon's own standard streams.
 */

#include <stdbool.h>

#include "base/log.h"
#include "model/base/settings.h"
#include "proto/logger.h"

/* The daemon's own standard streams, for output without another destination. */
struct log_sinks {
	bool journal; /* standard error is the journal's */
	bool one;     /* standard output is the same file as standard error */
};

void log_sinks_init(struct log_sinks *sinks, const struct log *log);

/*
 * Standard error has no stream of its own where it goes by that of standard output: to the same place,
 * with lines that do not name the stream.
 *
 * Return: false if the logger has no stream of @kind.  Else *rules, but for @name_width, and *file is
 * the path of the file, or "".
 */
bool log_rules(struct logger_rules *rules, const char **file, const struct node_config *config,
	       enum logger_kind kind, const struct log_sinks *sinks);

/* The same destination with the keys of @config that a reload changes while the service runs. */
void log_rules_reload(struct logger_rules *rules, const struct node_config *config);
