#pragma once

/*
 * The process of swansong-logger, and its socket (proto/logger-message.h).  It is started again when it
 * dies.  It is in a session of its own and belongs to no service.  If the daemon is killed, it
 * ends when no service can write any more and the pipes are empty; after a fault of the daemon it is
 * killed, and the next one gets its store.
 */

#include "daemon/loop/process.h"
#include "daemon/writer/program.h"
#include "proto/logger-message.h"

/* The time of a logger for an answer, and for its end after SIGKILL. */
#define LOGGER_ANSWER_USEC (USEC_PER_SEC / 2)

struct logger_child {
	struct process process; /* pid 0: there is none */
	unsigned place_store;	/* of its row in the roster */
	struct context *ctx;
	struct spawn_pool pool;
	struct spawning starting; /* its program may not run yet */
	struct helper_program program;
	struct logger_user {
		bool set; /* else it runs as the daemon's user */
		uid_t uid;
		gid_t gid;
		gid_t *groups;
		size_t n_groups;
	} user;
	int store;		     /* -1: it was never started */
	struct store_header *mapped; /* the store, or NULL */
	int socket;		     /* or -1 */
	sd_event_source *source;
	struct alarm again;
	struct alarm silence; /* since LOGGER_HELLO, and since SIGKILL */
	sd_event_source *timer; /* of LOGGER_TIMER, or NULL */
	struct list kept; /* processes that the kernel keeps in a call after SIGKILL */
	bool asked;	  /* LOGGER_HELLO was sent, and nothing has come since */
	uint64_t delay_usec;
	unsigned n_failed; /* deaths in a row before it was ready */
	bool ready;	   /* it takes messages */
	bool was_ready;	   /* it was ready, since its start */
	bool warned;	   /* the log has a warning that it does not run */
	void (*on_ready)(struct logger_child *child);	 /* it is ready, and knows no stream */
	void (*on_unusable)(struct logger_child *child); /* called before the warning is logged */
	void (*on_writable)(struct logger_child *child); /* it takes messages again */
	/*
	 * Called when the kernel keeps a killed process in a call for @stream, or for LOGGER_ALL, and when that
	 * is over.
	 */
	void (*on_kept)(struct logger_child *child, uint32_t stream, bool kept);
	void (*on_message)(struct logger_child *child, const struct logger_packet *packet);
};

/* Takes over the store and the process of the former image of the daemon. */
void logger_child_init(struct logger_child *child, struct context *ctx);
void logger_child_done(struct logger_child *child);

/* Runs the process as @user with its groups; before the first start.  Return: 0 or -errno. */
int logger_child_set_user(struct logger_child *child, const struct credentials *user);

/* Starts the process unless it runs or a start is planned. */
void logger_child_want(struct logger_child *child);

/* Returns false if the program cannot be executed, or ends at once. */
bool logger_child_is_usable(const struct logger_child *child);

/* Sends as logger_send() does.  After -EAGAIN, @on_writable or @on_ready is called. */
int logger_child_send(struct logger_child *child, struct logger_message *message, const char *first,
		      const char *second, int passed);

/*
 * Asks the process to answer soon, also if its destinations hang; one that does not is killed, and
 * another one follows.
 */
void logger_child_ask(struct logger_child *child);

/* Starts the process, of which there is none. */
void logger_child_start(struct logger_child *child);

/* Collects a process that is about to end, or leaves it after a while if the kernel keeps it. */
void logger_child_collect(struct logger_child *child);

/* Handles the death of @process, of kind PROCESS_LOGGER, which has been reaped. */
void logger_child_died(struct process *process);
