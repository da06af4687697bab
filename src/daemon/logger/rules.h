#pragma once

/*
 * The rules for the output of a node: its destination and format in the logger.  They follow from
 * the settings of the node and from the daemon's own standard streams.
 */

#include "base/log.h"
#include "model/base/settings.h"
#include "proto/logger-message.h"

/* The daemon's own standard streams, for output without another destination. */
struct log_sinks {
	bool journal; /* standard error is the journal's */
	bool one;     /* standard output is the same file as standard error */
};

void log_sinks_init(struct log_sinks *sinks, const struct log *log);

/* Returns true if output of that kind has a stream, of its own or shared. */
bool log_rules_is_captured(enum output_kind kind);

/*
 * Finds the rules of the stream of @kind.  Standard error shares the stream of standard output if
 * both have the same destination and form, and its lines do not name the stream.
 *
 * Returns false if the logger has no stream of @kind.  Otherwise fills in *rules, except for
 * @name_width, and sets *file to the path of the file, or to "".
 */
bool log_rules(struct logger_rules *rules, const char **file, const struct node_config *config,
	       enum logger_kind kind, const struct log_sinks *sinks);

/* Sets the keys of @config that a reload changes while the service runs; the destination stays. */
void log_rules_reload(struct logger_rules *rules, const struct node_config *config);
