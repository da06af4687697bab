/*
 * Reads the options, and makes the objects of the exporter: the copy of the tree, the link that
 * fills it, the stream of events, and the server.  One event loop runs them until SIGTERM or
 * SIGINT.
 */
#include <getopt.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include "exporter/http/listen.h"
#include "exporter/http/news.h"
#include "exporter/http/routes.h"
#include "exporter/limits/sandbox.h"
#include "exporter/text/metrics.h"
#include "proto/address.h"

#define NAME	   "swansong-exporter"
#define EXIT_USAGE 2

#include <exporter/usage.inc>

/* Only those of options_parse() have a letter for users. */
static const struct option long_options[] = {
	{ "socket", required_argument, NULL, 's' },
	{ "listen", required_argument, NULL, 'l' },
	{ "host", required_argument, NULL, 'o' },
	{ "max-nodes", required_argument, NULL, 'n' },
	{ "history", required_argument, NULL, 'H' },
	{ "actions", no_argument, NULL, 'a' },
	{ "token-file", required_argument, NULL, 't' },
	{ "logs", no_argument, NULL, 'L' },
	{ "max-logs", required_argument, NULL, 'm' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

struct exporter_options {
	const char *socket; /* NULL: the default */
	const char *listen;
	const char *history; /* NULL: that of the daemon */
	const char *token_file;
	bool actions, logs;
	uint64_t max_nodes, max_logs;
	struct access access;
};

static int options_take_number(const char *name, uint64_t *ret)
{
	if (parse_uint(optarg, UINT32_MAX, ret) == 0)
		return -1;
	(void)fprintf(stderr, NAME ": --%s: invalid number '%s': expected for example 500\n", name,
		      optarg);
	return EXIT_USAGE;
}

static int options_take(struct exporter_options *o, int c)
{
	const struct {
		int c;
		const char **text;
		bool *flag;
	} plain[] = {
		{ 's', .text = &o->socket },  { 'l', .text = &o->listen },
		{ 'H', .text = &o->history }, { 't', .text = &o->token_file },
		{ 'a', .flag = &o->actions }, { 'L', .flag = &o->logs },
	};

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		if (plain[i].c != c)
			continue;
		if (plain[i].text)
			*plain[i].text = optarg;
		else
			*plain[i].flag = true;
		return -1;
	}
	switch (c) {
	case 'o':
		if (o->access.n < ACCESS_HOSTS_MAX) {
			o->access.hosts[o->access.n++] = optarg;
			return -1;
		}
		(void)fprintf(stderr, NAME ": --host: more than %d names\n", ACCESS_HOSTS_MAX);
		return EXIT_USAGE;
	case 'n':
		return options_take_number("max-nodes", &o->max_nodes);
	case 'm':
		return options_take_number("max-logs", &o->max_logs);
	case 'h':
		return fputs(usage, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	case 'V':
		return puts(NAME " " PACKAGE_VERSION) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	default:
		return EXIT_USAGE;
	}
}

/* Return: -1 to go on, or an exit status. */
static int options_parse(int argc, char **argv, struct exporter_options *ret)
{
	int c, status = -1;

	*ret = (struct exporter_options){ .listen = LISTEN_DEFAULT,
					  .max_nodes = METRICS_NODES_DEFAULT,
					  .max_logs = TAILS_DEFAULT };
	while (status < 0 && (c = getopt_long(argc, argv, "s:l:hV", long_options, NULL)) >= 0)
		status = options_take(ret, c);
	if (status >= 0)
		return status;
	if (optind < argc) {
		(void)fprintf(stderr, NAME ": unexpected argument '%s'\n", argv[optind]);
		return EXIT_USAGE;
	}
	if (ret->actions == !!ret->token_file)
		return -1;
	(void)fputs(NAME ": --actions and --token-file belong together, for example --actions "
			 "--token-file /etc/swansong/exporter.token\n",
		    stderr);
	return EXIT_USAGE;
}

struct exporter {
	struct log log;
	sd_event *event;
	struct copy copy;
	struct site site;
	struct token token;
	struct link_owner link_owner;
	struct event_stream_owner stream_owner;
	struct server_owner server_owner;
};

static int on_reload(sd_event_source *source, const struct signalfd_siginfo *info, void *arg)
{
	struct exporter *e = arg;

	if (e->token.path)
		token_reload(&e->token);
	return 0;
}

static int exporter_start(struct exporter *e, const struct exporter_options *options,
			  const char *socket, int fd)
{
	const struct actions_owner actions_owner = {
		.event = e->event,
		.log = &e->log,
		.socket = socket,
		.token = options->actions ? &e->token : NULL,
		.resumed = news_resumed,
		.arg = &e->site,
	};
	const struct tails_owner tails_owner = {
		.event = e->event,
		.socket = socket,
		.max = options->logs ? options->max_logs : 0,
		.changed = news_tail,
		.line = news_line,
		.arg = &e->site,
	};
	/* A tail has the connection of its call, and its pipe. */
	const unsigned connections = server_count_connections(2 * tails_owner.max);
	int r;

	e->site.copy = &e->copy;
	e->link_owner = (struct link_owner){ &e->log, news_take, &e->site };
	e->stream_owner = (struct event_stream_owner){ news_snapshot, news_resumed, news_left,
						       &e->site, connections / 4 * 3 };
	actions_init(&e->site.actions, &actions_owner);
	e->server_owner =
		(struct server_owner){ routes_get, &e->site, &e->site.actions, connections };
	tails_init(&e->site.tails, &tails_owner);
	r = event_stream_new(&e->site.stream, e->event, &e->stream_owner);
	if (r >= 0)
		r = link_new(&e->site.link, e->event, socket, &e->copy, &e->link_owner);
	if (r < 0)
		(void)fd_close(fd);
	else
		r = server_new(&e->site.server, e->event, fd, &options->access, &e->server_owner);
	return r;
}

static void exporter_done(struct exporter *e)
{
	if (e->site.stream)
		event_stream_close(e->site.stream);
	if (e->site.server)
		actions_close(&e->site.actions);
	e->site.server = server_free(e->site.server);
	e->site.link = link_free(e->site.link);
	e->site.stream = event_stream_free(e->site.stream);
	tails_done(&e->site.tails);
	past_done(&e->site.past);
	totals_done(&e->site.totals);
	copy_done(&e->copy);
	token_done(&e->token);
	e->event = sd_event_unref(e->event);
}

static int exporter_run(const struct exporter_options *options, const char *socket)
{
	struct exporter e = { 0 };
	int r, fd;

	log_init(&e.log, NAME, LOG_INFO);
	log_use(&e.log, STDERR_FILENO);
	copy_init(&e.copy);
	totals_init(&e.site.totals);
	e.site.past.history_file = options->history;
	e.site.max_nodes = options->max_nodes;
	if (options->actions && !token_init(&e.token, options->token_file, &e.log))
		return EXIT_FAILURE;
	fd = listen_open(options->listen, &e.log);
	if (fd < 0)
		return fd == -EINVAL ? EXIT_USAGE : EXIT_FAILURE;
	(void)signal(SIGPIPE, SIG_IGN);
	r = sd_event_new(&e.event);
	if (r >= 0)
		r = sd_event_set_signal_exit(e.event, true); /* SIGTERM and SIGINT end the loop */
	if (r >= 0)
		r = sd_event_add_signal(e.event, NULL, SIGHUP | SD_EVENT_SIGNAL_PROCMASK, on_reload,
					&e);
	if (r >= 0)
		r = exporter_start(&e, options, socket, fd);
	if (r >= 0)
		r = sandbox_enter();
	if (r >= 0)
		(void)sd_notify(0, "READY=1");
	if (r >= 0)
		r = sd_event_loop(e.event);
	if (r < 0)
		log_line(&e.log, LOG_ERR, "cannot run: %s", strerror(-r));
	exporter_done(&e);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	cleanup(freep) char *socket = NULL;
	struct exporter_options options;
	int status = options_parse(argc, argv, &options);
	struct rlimit limit;

	if (status >= 0)
		return status;
	(void)fd_open_standard();
	/* Each client is a descriptor. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (address_find(options.socket, &socket) < 0) {
		(void)fputs(NAME ": out of memory\n", stderr);
		return EXIT_FAILURE;
	}
	return exporter_run(&options, socket);
}
