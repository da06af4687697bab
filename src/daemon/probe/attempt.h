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
