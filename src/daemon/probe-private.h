#pragma once

/* What the kinds of probes share; for the probe*.c only. */

#include "daemon/probe.h"

#define PROBE_WHY_MAX 128

struct probe_kind_ops {
	/* Begins; probe_end() follows in any case, now or later. */
	void (*begin)(struct probe *probe, const struct process *main);
	/* What has begun is over before its time, or ended by itself. */
	void (*end)(struct probe *probe);
};

extern const struct probe_kind_ops probe_connect_ops, probe_http_ops, probe_exec_ops;

struct probe {
	struct context *ctx;
	const struct probe_config *config;
	const struct launch *launch;
	const struct probe_kind_ops *ops;
	void (*on_result)(void *arg, const char *why);
	void *arg;
	sd_event_source *timer; /* the end of its time; or, once it has ended, the next turn */
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

/* It is well.  To be called once for each begin(). */
void probe_succeed(struct probe *probe);

/* It is not, for the reason that follows. */
void probe_fail(struct probe *probe, const char *format, ...) printf_like(2, 3);

/*
 * Connects to the address of its configuration, and calls @on_io when something can be done, with
 * @events to begin with; without that it is over.  Return: 0 or -errno.
 */
int probe_connect(struct probe *probe, uint32_t events, sd_event_io_handler_t on_io);

/* How the connection came about.  Return: 0 or -errno. */
int probe_connected(struct probe *probe);
void probe_disconnect(struct probe *probe);
