/* Options of the command line, and the objects that make up the exporter. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/parse.h"
#include "exporter/http/listen.h"
#include "exporter/http/news.h"
#include "exporter/http/routes.h"
#include "exporter/text/metrics.h"
#include "proto/address.h"

#define NAME	   "swansong-exporter"
#define EXIT_USAGE 2

enum long_option { OPTION_HOST = 256, OPTION_MAX_NODES, OPTION_HISTORY, OPTION_REPORT };

static const char usage[] =
	"usage: " NAME " [-s SOCKET] [--listen ADDRESS]\n"
	"\n"
	"Shows the tree of a swansongd as a web page, as JSON, and for Prometheus.\n"
	"\n"
	"  -s, --socket PATH     the control socket of the daemon\n"
	"                        (default $SWANSONG_SOCKET, or /run/swansong/control.sock)\n"
	"  -l, --listen ADDRESS  HOST:PORT, [HOST]:PORT or unix:PATH (default " LISTEN_DEFAULT ";\n"
	"                        not used with a socket of LISTEN_FDS)\n"
	"      --host NAME       a name that clients may use for the exporter; may be repeated\n"
	"      --max-nodes N     nodes with metrics (default " STRINGIFY(
		METRICS_NODES_DEFAULT) ")\n"
				       "      --history FILE    the history (default: that of the daemon)\n"
				       "      --report FILE     the report (likewise)\n"
				       "  -h, --help            show this\n"
				       "  -V, --version         show the version\n"
				       "\n"
				       "See swansong-exporter(8).\n";

static const struct option long_options[] = {
	{ "socket", required_argument, NULL, 's' },
	{ "listen", required_argument, NULL, 'l' },
	{ "host", required_argument, NULL, OPTION_HOST },
	{ "max-nodes", required_argument, NULL, OPTION_MAX_NODES },
	{ "history", required_argument, NULL, OPTION_HISTORY },
	{ "report", required_argument, NULL, OPTION_REPORT },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

struct exporter_options {
	const char *socket; /* NULL: the default */
	const char *listen;
	const char *history, *report; /* NULL: that of the daemon */
	uint64_t max_nodes;
	struct access access;
};

/* Returns -1 to go on, or an exit status. */
static int options_parse(int argc, char **argv, struct exporter_options *ret)
{
	int c;

	*ret = (struct exporter_options){ .listen = LISTEN_DEFAULT,
					  .max_nodes = METRICS_NODES_DEFAULT };
	while ((c = getopt_long(argc, argv, "s:l:hV", long_options, NULL)) >= 0) {
		switch (c) {
		case 's':
			ret->socket = optarg;
			break;
		case 'l':
			ret->listen = optarg;
			break;
		case OPTION_HOST:
			if (ret->access.n == ACCESS_HOSTS_MAX) {
				(void)fprintf(stderr, NAME ": --host: more than %d names\n",
					      ACCESS_HOSTS_MAX);
				return EXIT_USAGE;
			}
			ret->access.hosts[ret->access.n++] = optarg;
			break;
		case OPTION_MAX_NODES:
			if (parse_uint(optarg, UINT32_MAX, &ret->max_nodes) == 0)
				break;
			(void)fprintf(stderr,
				      NAME
				      ": --max-nodes: invalid number '%s': expected for example "
				      "500\n",
				      optarg);
			return EXIT_USAGE;
		case OPTION_HISTORY:
			ret->history = optarg;
			break;
		case OPTION_REPORT:
			ret->report = optarg;
			break;
		case 'h':
			return fputs(usage, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
		case 'V':
			return puts(NAME " " PACKAGE_VERSION) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return -1;
	(void)fprintf(stderr, NAME ": unexpected argument '%s'\n", argv[optind]);
	return EXIT_USAGE;
}

/* Each client is a descriptor. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *arg)
{
	(void)info, (void)arg;
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

/* SIGTERM and SIGINT end the loop. */
static int add_signals(sd_event *event)
{
	sigset_t mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return -errno;
	(void)signal(SIGPIPE, SIG_IGN);
	r = sd_event_add_signal(event, NULL, SIGTERM, on_signal, NULL);
	return r < 0 ? r : sd_event_add_signal(event, NULL, SIGINT, on_signal, NULL);
}

struct exporter {
	struct log log;
	sd_event *event;
	struct copy copy;
	struct site site;
	struct link_owner link_owner;
	struct stream_owner stream_owner;
	struct server_owner server_owner;
};

static int exporter_start(struct exporter *e, const struct exporter_options *options,
			  const char *socket, int fd)
{
	int r;

	e->site.copy = &e->copy;
	e->link_owner = (struct link_owner){ &e->log, news_take, &e->site };
	e->stream_owner = (struct stream_owner){ news_snapshot, news_resumed, &e->site };
	e->server_owner = (struct server_owner){ routes_get, &e->site };
	r = stream_new(&e->site.stream, e->event, &e->stream_owner);
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
		stream_close(e->site.stream);
	e->site.server = server_free(e->site.server);
	e->site.link = link_free(e->site.link);
	e->site.stream = stream_free(e->site.stream);
	past_done(&e->site.past);
	totals_done(&e->site.totals);
	copy_done(&e->copy);
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
	e.site.past.report_file = options->report;
	e.site.max_nodes = options->max_nodes;
	fd = listen_open(options->listen, &e.log);
	if (fd < 0)
		return fd == -EINVAL ? EXIT_USAGE : EXIT_FAILURE;
	r = sd_event_new(&e.event);
	if (r >= 0)
		r = add_signals(e.event);
	if (r >= 0)
		r = exporter_start(&e, options, socket, fd);
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

	if (status >= 0)
		return status;
	(void)fd_open_standard();
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	raise_descriptors();
	if (address_find(options.socket, &socket) < 0) {
		(void)fputs(NAME ": out of memory\n", stderr);
		return EXIT_FAILURE;
	}
	return exporter_run(&options, socket);
}
