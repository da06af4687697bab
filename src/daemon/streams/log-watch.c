/*
 * A process keeps the output that it was given, so its output is relayed as long as it lives,
 * though it is watched only until the line has come.  Standard output and standard error share a
 * relay if they have the same destination, so their lines keep their order.
 */
#include "daemon/streams/log-watch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "daemon/streams/relay.h"

struct log_watch {
	const struct node_config *config;
	struct relay *relays[2];
	void (*on_match)(void *arg);
	void *arg;
};
DEFINE_CLEANUP(struct log_watch *, log_watch_free)

static void log_watch_set_watched(struct log_watch *w, bool on)
{
	relay_watch(w->relays[0], on);
	relay_watch(w->relays[1], on);
}

static void log_watch_on_line(void *arg, const char *line)
{
	struct log_watch *w = arg;

	if (regexec(w->config->ready.regex, line, 0, NULL, 0) != 0)
		return;
	log_watch_set_watched(w, false);
	w->on_match(w->arg);
}

int log_watch_new(struct log_watch **ret, struct context *ctx, const struct node_config *config)
{
	cleanup(log_watch_freep) struct log_watch *w = calloc(1, sizeof(*w));
	int r = 0;

	if (!w)
		return -ENOMEM;
	w->config = config;
	for (int i = 0; r == 0 && i < 2; i++)
		r = relay_new(&w->relays[i], ctx, config->path, i + 1, log_watch_on_line, w);
	if (r == 0)
		*ret = take(w);
	return r;
}

struct log_watch *log_watch_free(struct log_watch *w)
{
	if (!w)
		return NULL;
	relay_free(w->relays[0]);
	relay_free(w->relays[1]);
	free(w);
	return NULL;
}

int log_watch_interpose(struct log_watch *w, struct streams *streams)
{
	bool one = streams->fds[1] == streams->fds[2];
	int r;

	log_watch_set_watched(w, false);
	r = relay_direct(w->relays[0], streams->fds[1]);
	if (r >= 0 && !one)
		r = relay_direct(w->relays[1], streams->fds[2]);
	if (r < 0)
		return r;
	streams->fds[1] = relay_fd(w->relays[0]);
	streams->fds[2] = relay_fd(w->relays[one ? 0 : 1]);
	return 0;
}

bool log_watch_drain(struct log_watch *w)
{
	bool first = relay_drain(w->relays[0]);

	return relay_drain(w->relays[1]) && first;
}

void log_watch_begin(struct log_watch *w, void (*on_match)(void *arg), void *arg)
{
	w->on_match = on_match;
	w->arg = arg;
	log_watch_set_watched(w, true);
}

void log_watch_end(struct log_watch *w)
{
	log_watch_set_watched(w, false);
}
