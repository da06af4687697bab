#pragma once

/* One look at a service: the data of a probe, and how each kind of look reports its result. */

#include "daemon/loop/context.h"
#include "daemon/loop/process.h"
#include "daemon/spawn/launch.h"

#define PROBE_WHY_MAX 128

struct probe;

struct probe_kind_ops {
	/* Begins; end() follows in any case, now or later. */
	void (*begin)(struct probe *probe, const struct process *main);
	/* What has begun is over before its time, or ended by itself. */
	void (*end)(struct probe *probe);
};

struct probe {
	struct context *ctx;
	const struct probe_config *config;
	const struct launch *launch;
	const struct probe_kind_ops *ops;
	void (*on_result)(void *arg, const char *why);
	void *arg;
	struct alarm timer; /* the end of its time; or, once it has ended, at once */
	bool running, ended;
	char why[PROBE_WHY_MAX]; /* ended: empty for well */

	/* Those that connect. */
	int fd;
	sd_event_source *io;

	/* HTTP. */
	char *request;
	size_t request_length;
	size_t used;	 /* of the request that is sent, then of the answer that is here */
	char answer[16]; /* HTTP_STATUS_LENGTH of it */

	/* A command. */
	struct process process;
};

/* The service is well.  One of these two is called once for each begin(). */
void probe_succeed(struct probe *probe);

/* The service is not well, for the reason that follows. */
void probe_fail(struct probe *probe, const char *format, ...) printf_like(2, 3);
