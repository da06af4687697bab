#pragma once

/* A single check of a service: the data of a probe, and the interface of its kinds. */

#include "daemon/spawn/launch.h"

#define PROBE_WHY_MAX  256
#define PROBE_LINE_MAX 160 /* of the output of a command */

struct probe;

struct probe_kind_ops {
	/* Begins; end() follows in any case, now or later. */
	void (*begin)(struct probe *probe, const struct process *main);
	/* Ends the check, whether it is over or not. */
	void (*end)(struct probe *probe);
};

struct probe {
	struct context *ctx;
	const struct probe_config *config;
	const struct launch *launch;
	const struct probe_kind_ops *ops;
	void (*on_result)(void *arg, const char *why);
	void *arg;
	struct alarm timer; /* timeout of the attempt; after its end: reports the result */
	bool running, ended;
	char why[PROBE_WHY_MAX]; /* after the end: empty if it succeeded */

	/* The connection, or the file with the output of a command. */
	int fd;
	sd_event_source *io;

	/* PROBE_HTTP. */
	char *request;
	size_t request_length;
	size_t used;	 /* bytes sent of the request, then received of the reply */
	char answer[16]; /* HTTP_STATUS_LENGTH of it */

	/* PROBE_EXEC. */
	struct process process;
	char line[PROBE_LINE_MAX]; /* the last line of its output, or its beginning */
};

/* Ends the check with success.  One of these two functions is called once for each begin(). */
void probe_succeed(struct probe *probe);

/* Ends the check with a failure and its reason. */
void probe_fail(struct probe *probe, const char *format, ...) printf_like(2, 3);

/* A connection, alone or with a request of HTTP/1.1: connect.c. */
extern const struct probe_kind_ops probe_connect_ops, probe_http_ops;

/* The first bytes of a reply have the status: "HTTP/1.1 200 ". */
#define HTTP_STATUS_LENGTH 13

/* Makes a request for "HOST:PORT/PATH", which the caller frees.  Return: 0 or -ENOMEM. */
int http_request(const char *url, char **ret, size_t *ret_length);

/*
 * Returns the status, 100 to 599; -EAGAIN if the reply is incomplete; -EBADMSG if it is not HTTP/1.
 */
int http_status(const char *text, size_t length);

/* A command: exec.c. */
extern const struct probe_kind_ops probe_exec_ops;

/* Returns the running command, even if it was cancelled; or NULL. */
const struct process *probe_process(const struct probe *probe);

/* Handles @process, of kind PROCESS_PROBE, that cannot run its program. */
void probe_failed(struct process *process, const struct spawn_failure *why);

/* Handles the end of @process, of kind PROCESS_PROBE, which is not collected yet. */
void probe_died(struct process *process, const struct reap_exit *exit);
