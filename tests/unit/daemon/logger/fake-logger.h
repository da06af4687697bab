#pragma once

/*
 * The process of the logger, which the test plays: its end of the socket, and no process.  For programs
 * linked with $(fake_logger_ldflags); the tree is that of tree-world.h.
 */

#include "daemon/logger/state.h"
#include "tests/unit/fixtures/daemon/tree-world.h"

extern struct fake_logger {
	int socket; /* of the last process; -1: there is none */
	pid_t pid;  /* ... */
	unsigned started, killed;
	int refused; /* errno of all further starts; 0: they succeed */
	int failed;  /* errno of the exec of all further processes; likewise */
} fake;

/* Makes the logger of the context, without a stream, in the tree that exists. */
void fake_logger_begin(void);
void fake_logger_end(void);

/* Lets the loop handle what it has, and runs turns(). */
void fake_logger_serve(void);

/* The process sends a message of @type; then fake_logger_serve(). */
void fake_logger_sends(enum logger_type type, uint32_t stream, uint64_t cookie);

/* It is ready, as at its begin. */
void fake_logger_is_ready(void);

/* The process ends, and is collected. */
void fake_logger_ends(void);

/*
 * Takes the next message that the process has got, of @type; those of other types before it are
 * dropped.  Returns NULL if there is none.
 */
const struct logger_packet *fake_logger_hears(enum logger_type type);

/* Returns the stream of the node, with these rules and no file. */
struct log_stream *fake_logger_stream(const char *node, enum logger_format format);
