#pragma once

/* Plays the daemon for a logger in a process of its own: its streams, and its messages. */

#include <check.h>
#include <stdbool.h>

#include "base/macro.h"
#include "proto/logger-store.h"
#include "proto/logger-message.h"
#include "tests/unit/fixtures/main.h"
#include "tests/unit/fixtures/scratch.h"

/* Of system calls: a sanitizer makes calls of its own. */
#ifdef __SANITIZE_ADDRESS__
#define HAS_FILTER 0
#else
#define HAS_FILTER 1
#endif

#define PLAY_STREAMS 64

struct play_stream {
	int in, out; /* read end and write end; 0 and 0: none */
	struct logger_rules rules;
	char name[64], path[256];
};

extern struct play {
	int control, store;
	struct store_header *mapped; /* the store */
	pid_t pid;
	uint64_t cookie;
	struct play_stream streams[PLAY_STREAMS];
	struct logger_packet packet; /* received last */
} play;

/* A checked fixture: a directory, and a logger. */
void play_begin(void);
void play_end(void);

/* A new logger with the streams that there are. */
void play_start(void);
/* The same with a pipe as its standard output.  Returns the read end, to be closed. */
int play_start_with_output(void);
/* SIGKILL. */
void play_kill(void);
/* Sends @signo to the children of the logger.  Returns their number. */
int play_signal_helpers(int signo);

/* Plain lines to a file in the directory of the test. */
struct logger_rules play_file(void);

/* @path is in the directory of the test unless it begins with a slash. */
void play_add(uint32_t stream, const struct logger_rules *rules, const char *name,
	      const char *path);
void play_write(uint32_t stream, const char *text);
void play_write_bytes(uint32_t stream, const void *data, size_t size);

/* As the daemon, when the service is started. */
void play_run(uint32_t stream, pid_t pid, uint64_t generation);

/* Leaves the pipe to the logger alone. */
void play_close(uint32_t stream);

/* Sends a message without texts. */
void play_send(struct logger_message *message);

/* Waits for a message of this type, which is then in play.packet. */
void play_wait(enum logger_type type);

/* Waits until all is written that was written to the pipes. */
void play_flush(uint32_t stream);
void play_remove(uint32_t stream);

struct store_counts play_counts(uint32_t stream);

/* The text of a file in the directory, with a NUL; to be freed. */
char *play_read(const char *path, size_t *size);
void play_expect(const char *path, const char *text);

/* How many files of the directory have a name that begins like this. */
size_t play_count_files(const char *prefix);

/* Adds the cases of the other files. */
void add_line_tests(Suite *suite);
void add_file_tests(Suite *suite);
void add_view_tests(Suite *suite);
void add_watch_tests(Suite *suite);
void add_out_tests(Suite *suite);
