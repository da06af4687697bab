#include "daemon.h"

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macro.h"
#include "proto/node-view.h"
#include "report.h"

#define PATIENCE_USEC (20 * USEC_PER_SEC)
#define WORDS_MAX     16

static void write_config(const struct daemon *d, const struct programs *programs, const char *child,
			 size_t n)
{
	FILE *f = fopen(d->config, "we");

	if (!f)
		err(EXIT_FAILURE, "%s", d->config);
	/* A child reports its birth by standard output; standard error is captured. */
	(void)fputs("[swansong]\nstdout = inherit\n", f);
	if (programs->sections)
		programs->sections(f, programs->arg);
	for (size_t i = 0; i < n; i++) {
		(void)fprintf(f,
			      "[s%zu]\ncommand = %s\nrestart = always\nrestart-delay = 0\n"
			      "restart-limit = none\n",
			      i, child);
		if (programs->edges)
			programs->edges(f, i);
	}
	if (fclose(f) != 0)
		err(EXIT_FAILURE, "%s", d->config);
}

/* The real file of a program, which may be a wrapper of libtool's. */
static char *find_program(const char *builddir, const char *name)
{
	const char *base = strrchr(name, '/');
	char *path;

	base = base ? base + 1 : name;
	if (asprintf(&path, "%s/%.*s.libs/%s", builddir, (int)(base - name), name, base) < 0)
		err(EXIT_FAILURE, "%s", name);
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	if (asprintf(&path, "%s/%s", builddir, name) < 0)
		err(EXIT_FAILURE, "%s", name);
	if (access(path, X_OK) < 0)
		err(EXIT_FAILURE, "%s", path);
	return path;
}

void programs_find(struct programs *programs, const char *builddir)
{
	cleanup(freep) char *absolute = realpath(builddir, NULL), *logger = NULL;

	if (!absolute)
		err(EXIT_FAILURE, "%s", builddir);
	logger = find_program(absolute, "swansong-logger");
	if (setenv("SWANSONG_LOGGER", logger, 0) < 0)
		err(EXIT_FAILURE, "SWANSONG_LOGGER");
	if (!programs->swansongd)
		programs->swansongd = find_program(absolute, "swansongd");
	programs->swansongctl = find_program(absolute, "swansongctl");
	programs->child = find_program(absolute, "tests/bench/child");
	programs->ender = find_program(absolute, "tests/bench/ender");
	programs->floor = find_program(absolute, "tests/bench/floor");
}

/* Returns true if @events name a file of this name. */
static bool is_named(const char *events, size_t size, const char *name)
{
	for (size_t at = 0; at < size;) {
		const struct inotify_event *event = (const void *)(events + at);

		if (strcmp(event->name, name) == 0)
			return true;
		at += sizeof(*event) + event->len;
	}
	return false;
}

/* Blocks until there is a file of this name in the watched folder. */
static void await_file(int inotify, const char *name)
{
	_Alignas(struct inotify_event) char events[4096];
	struct pollfd created = { .fd = inotify, .events = POLLIN };
	ssize_t n;

	do {
		if (poll(&created, 1, (int)(PATIENCE_USEC / USEC_PER_MSEC)) <= 0)
			errx(EXIT_FAILURE, "swansongd makes no socket");
		n = read(inotify, events, sizeof(events));
		if (n < 0)
			err(EXIT_FAILURE, "inotify");
	} while (!is_named(events, (size_t)n, name));
}

static void connect_to(struct daemon *d)
{
	int r;

	/* It has its name a moment before it is listened at. */
	while ((r = client_connect(&d->client, d->socket, clock_now_usec() + PATIENCE_USEC)) ==
	       -ECONNREFUSED)
		(void)sched_yield();
	if (r < 0)
		errx(EXIT_FAILURE, "%s: %s", d->socket, strerror(-r));
}

static void ask(struct daemon *d, const char *method, json_t *parameters, unsigned flags)
{
	int r = client_call(d->client, method, parameters, flags, clock_now_usec() + PATIENCE_USEC);

	if (r < 0)
		errx(EXIT_FAILURE, "%s: %s", method, strerror(-r));
}

static void receive(struct daemon *d, struct message_reply *reply)
{
	int r = client_receive(d->client, clock_now_usec() + PATIENCE_USEC, reply);

	if (r < 0)
		errx(EXIT_FAILURE, "no reply: %s", strerror(-r));
	if (reply->error)
		errx(EXIT_FAILURE, "refused: %s", reply->error);
}

static void execute(struct daemon *d, const struct programs *programs, size_t n,
		    const char *const *wrapper)
{
	const char *const own[] = { programs->swansongd, "-c", d->config, "-s", d->socket, NULL };
	const char *argv[WORDS_MAX + ARRAY_SIZE(own)];
	size_t words = 0;

	for (; wrapper && wrapper[words] && words < WORDS_MAX; words++)
		argv[words] = wrapper[words];
	memcpy(argv + words, own, sizeof(own));
	subject_start(&d->subject, argv, n);
}

static void prepare(struct daemon *d, const struct programs *programs, const char *child, size_t n)
{
	*d = (struct daemon){ 0 };
	if (asprintf(&d->config, "%s/swansong.ini", programs->folder) < 0 ||
	    asprintf(&d->socket, "%s/socket", programs->folder) < 0)
		err(EXIT_FAILURE, "%s", programs->folder);
	write_config(d, programs, child, n);
}

void daemon_start_loop(struct daemon *d, const struct programs *programs, size_t n)
{
	prepare(d, programs, programs->ender, n);
	execute(d, programs, n, NULL);
}

uint64_t daemon_start(struct daemon *d, const struct programs *programs, size_t n,
		      const char *const *wrapper)
{
	struct message_reply reply;
	uint64_t begun, took;
	int inotify = inotify_init1(IN_CLOEXEC);

	prepare(d, programs, programs->child, n);
	if (inotify < 0 ||
	    inotify_add_watch(inotify, programs->folder, IN_CREATE | IN_MOVED_TO) < 0)
		err(EXIT_FAILURE, "%s", programs->folder);

	begun = now_nsec();
	execute(d, programs, n, wrapper);
	await_file(inotify, "socket");
	connect_to(d);
	ask(d, "io.swansong.Wait", json_pack("{s:s}", "until", "ready"), 0);
	receive(d, &reply);
	took = now_nsec() - begun;

	message_reply_done(&reply);
	(void)close(inotify);
	subject_await(&d->subject);
	return took;
}

size_t daemon_count_nodes(struct daemon *d)
{
	struct node_view *nodes;
	size_t n, all = 0;
	bool continues;

	ask(d, "io.swansong.Status", json_object(), MESSAGE_MORE);
	do {
		struct message_reply reply;

		receive(d, &reply);
		if (node_view_parse_array(reply.parameters, "nodes", &nodes, &n) < 0)
			errx(EXIT_FAILURE, "the status is none");
		continues = reply.continues;
		all += n;
		free(nodes);
		message_reply_done(&reply);
	} while (continues);
	return all;
}

uint64_t daemon_status(struct daemon *d)
{
	uint64_t begun = now_nsec();

	if (daemon_count_nodes(d) != d->subject.n + 1)
		errx(EXIT_FAILURE, "the status is not that of all");
	return now_nsec() - begun;
}

void daemon_reload(struct daemon *d, const struct programs *programs)
{
	struct message_reply reply;

	write_config(d, programs, programs->child, 0);
	ask(d, "io.swansong.Reload", json_object(), 0);
	receive(d, &reply);
	message_reply_done(&reply);
}

void daemon_disconnect(struct daemon *d)
{
	d->client = client_free(d->client);
}

uint64_t daemon_stop(struct daemon *d)
{
	uint64_t took;

	daemon_disconnect(d);
	took = subject_stop(&d->subject);
	free(d->config);
	free(d->socket);
	return took;
}
