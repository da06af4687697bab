#pragma once

/* Prints lines as they are, behind the name of the node, or as JSON, an object a line. */

#include "ctl/logs/lines.h"
#include "ctl/session/session.h"

struct log_printer {
	struct ctl *ctl;
	bool names; /* more than one node is shown */
	int width;  /* of the names, in columns */
};

/* There are lines of this node. */
void log_printer_add(struct log_printer *printer, const char *node);

/* Return: CTL_DONE or CTL_FAILED. */
int log_print(const struct log_printer *printer, const struct log_line *line);

/* Bytes of a stream that will never come. */
int log_print_lost(const struct log_printer *printer, const struct log_source *source,
		   uint64_t bytes);
