#pragma once

/*
 * The process of swansong-logger: started, started again when it dies, and its socket (proto/logger.h).
 * It is in a session of its own, belongs to no service, and outlives a daemon that is killed until no
 * service can write and what was in the pipes is written.
 */

#include "daemon/loop/context.h"
#include "daemon/loop/process.h"
#include "model/base/settings.h"
#include "proto/logger.h"

struct logger_child {
	struct process process; /* pid 0: there is none */
	struct context *ctx;
	const char *program;
	struct logger_user {
		bool set; /* else the daemon's */
		uid_t uid;
		gid_t gid;
		gid_t *groups;
		size_t n_groups;
	} user;
	int store;  /* or -1: it was never started */
	int socket; /* or -1 */
	sd_event_source *source;
	struct alarm again;
	uint64_t delay_usec;
	unsigned n_failed; /* in a row, before it was ready */
	bool ready;	   /* it takes messages */
	bool was_ready;	   /* since it was started */
	bool warned;	   /* ... and the log says that it does not run */
	/* It is ready, and knows no stream; it takes messages again; it has sent one. */
	void (*on_ready)(struct logger_child *child);
	void (*on_unusable)(struct logger_child *child); /* before that is logged */
	void (*on_writable)(struct logger_child *child);
	void (*on_message)(struct logger_child *child, const struct logger_packet *packet);
};

void logger_child_init(struct logger_child *child, struct context *ctx);
void logger_child_done(struct logger_child *child);

/* The process runs as @user, with the groups of that user.  Before the first start.  0 or -errno. */
int logger_child_set_user(struct logger_child *child, const struct credentials *user);

/* Starts it unless it runs, or is to be started soon. */
void logger_child_want(struct logger_child *child);

/* Returns false if it cannot be executed, or ends at once. */
bool logger_child_is_usable(const struct logger_child *child);

/* As logger_send().  -EAGAIN: @on_writable follows, or @on_ready. */
int logger_child_send(struct logger_child *child, struct logger_message *message, const char *first,
		      const char *second, int passed);

/* --- at the end of the daemon, without the loop of events --- */

/*
 * Waits until it is ready; starts it if it has died.
 *
 * Return: 0: it was ready; 1: it is now, and knows no stream; -ENOTSUP: it cannot be run; -ETIMEDOUT.
 */
int logger_child_begin(struct logger_child *child, uint64_t until_usec);

/* Waits until its socket may take more.  Return: 0; or else it has ended, or the time is over. */
int logger_child_await_room(struct logger_child *child, uint64_t until_usec);

/* Sends LOGGER_STOP and waits until it has ended.  Return: 0: there is none now; -ETIMEDOUT. */
int logger_child_stop(struct logger_child *child, uint64_t until_usec);

/* The child of @process, of kind PROCESS_LOGGER, has been collected. */
void logger_child_died(struct process *process);
