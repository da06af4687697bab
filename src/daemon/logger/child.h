#pragma once

/*
 * The process of swansong-logger, and its socket (proto/logger-message.h).  It is started again when it
 * dies.  It is in a session of its own and belongs to no service.  If the daemon is killed, it
 * ends when no service can write any more and the pipes are empty; after a fault of the daemon it is
 * killed, and the next one gets its store.
 *
 * The program is opened at the start of the daemon: the path of an upgraded package has one of
 * another version.
 */

#include "daemon/loop/context.h"
#include "daemon/loop/process.h"
#include "model/base/settings.h"
#include "proto/logger-message.h"

struct logger_child {
	struct process process;				   /* pid 0: there is none */
	unsigned place_store, place_program, place_former; /* of rows in the roster */
	struct context *ctx;
	struct spawn_pool pool;
	struct spawning starting; /* its program may not run yet */
	const char *program;
	int program_fd; /* or -1 */
	int former_fd;	/* of the former version; or -1 */
	struct logger_user {
		bool set; /* else it runs as the daemon's user */
		uid_t uid;
		gid_t gid;
		gid_t *groups;
		size_t n_groups;
	} user;
	int store;  /* -1: it was never started */
	int socket; /* or -1 */
	sd_event_source *source;
	struct alarm again;
	struct alarm silence; /* since LOGGER_HELLO */
	bool asked;	      /* LOGGER_HELLO was sent, and nothing has come since */
	uint64_t delay_usec;
	unsigned n_failed; /* deaths in a row before it was ready */
	bool ready;	   /* it takes messages */
	bool was_ready;	   /* it has been, since its start */
	bool warned;	   /* the log has a warning that it does not run */
	void (*on_ready)(struct logger_child *child);	 /* it is ready, and knows no stream */
	void (*on_unusable)(struct logger_child *child); /* called before the warning is logged */
	void (*on_writable)(struct logger_child *child); /* it takes messages again */
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

/* --- at the end of the daemon, without the loop of events --- */

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

/* Handles the death of @process, of kind PROCESS_LOGGER, which has been reaped. */
void logger_child_died(struct process *process);
