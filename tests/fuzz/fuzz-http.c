/*
 * All bytes that a client sends to swansong-exporter, on a connection of their own.  The first byte is
 * the size of the parts in which they come.  The status of the first reply is the same for
 * parts of any size, and a page is only asked for by the name of this machine.
 */
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "exporter/http/news.h"
#include "exporter/http/routes.h"
#include "exporter/http/token.h"
#include "exporter/text/metrics.h"

#define TOKEN	   "0123456789abcdef"
#define REPLY_MAX  4096 /* bytes of the replies that are kept */
#define PARTS_MAX  64
#define ROUNDS_MAX 10000
#define PLACES	   8
#define LATE_USEC  USEC_PER_SEC /* less than any limit of the server */

struct exporter {
	struct log log;
	sd_event *event;
	struct copy copy;
	struct site site;
	struct token token;
	struct actions_owner actions;
	struct tails_owner tails;
	struct link_owner link;
	struct event_stream_owner stream;
	struct server_owner server;
	struct sockaddr_un address;
	socklen_t address_length;
};

static const struct access access_rules = { .hosts = { "a.example" }, .n = 1 };

/* The only names are those of the machine itself and that of the rules, with a port or without. */
static void check_host(struct MHD_Connection *connection)
{
	const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");

	if (!host || strncasecmp(host, "a.example", 9) == 0 ||
	    strncasecmp(host, "localhost", 9) == 0)
		return;
	for (const char *at = host; *at; at++)
		FUZZ_CHECK(isxdigit((unsigned char)*at) || strchr("[]:.", *at));
}

static struct MHD_Response *get(struct MHD_Connection *connection, const char *path,
				unsigned *ret_status, void *site)
{
	check_host(connection);
	return routes_get(connection, path, ret_status, site);
}

static void write_token(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_CHECK(fd >= 0 && write(fd, TOKEN, strlen(TOKEN)) == (ssize_t)strlen(TOKEN));
	(void)fd_close(fd);
}

static void take_nodes(struct copy *copy)
{
	json_t *nodes =
		json_loads("[{\"path\":\"\",\"generation\":1,\"state\":\"running\","
			   "\"since_usec\":1,\"guards\":1,\"ready\":true,\"forced\":false},"
			   "{\"path\":\"web\",\"generation\":1,\"state\":\"running\","
			   "\"since_usec\":1,\"guards\":1,\"ready\":true,\"forced\":false,"
			   "\"service\":{\"state\":\"up\",\"since_usec\":1,\"command\":\"x\","
			   "\"ready\":true,\"restarts\":2}}]",
			   0, NULL);

	FUZZ_CHECK(nodes && copy_take_nodes(copy, nodes, 1) >= 0);
	json_decref(nodes);
}

static void begin_rooms(struct exporter *e)
{
	static const char none[] = "fuzz-none.sock";
	struct site *site = &e->site;

	e->actions = (struct actions_owner){
		e->event, &e->log, none, &e->token, news_resumed, site,
	};
	e->tails = (struct tails_owner){
		.event = e->event,
		.socket = none,
		.max = 2,
		.changed = news_tail,
		.line = news_line,
		.arg = site,
	};
	e->link = (struct link_owner){ &e->log, news_take, site };
	e->stream =
		(struct event_stream_owner){ news_snapshot, news_resumed, news_left, site, PLACES };
	e->server = (struct server_owner){ get, site, NULL, PLACES };
	actions_init(&site->actions, &e->actions);
	tails_init(&site->tails, &e->tails);
	FUZZ_CHECK(event_stream_new(&site->stream, e->event, &e->stream) == 0);
	FUZZ_CHECK(link_new(&site->link, e->event, none, &e->copy, &e->link) == 0);
	e->server.actions = &site->actions;
}

static void begin(struct exporter *e)
{
	static char token[64];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	*e = (struct exporter){ .log = { .fd = -1, .level = LOG_DEBUG, .name = "fuzz" } };
	e->site.copy = &e->copy;
	e->site.max_nodes = METRICS_NODES_DEFAULT;
	copy_init(&e->copy);
	totals_init(&e->site.totals);
	take_nodes(&e->copy);
	(void)snprintf(token, sizeof(token), "fuzz-%d.token", (int)getpid());
	write_token(token);
	FUZZ_CHECK(token_init(&e->token, token, &e->log));
	FUZZ_CHECK(sd_event_new(&e->event) >= 0);
	begin_rooms(e);
	/* The kernel finds a name. */
	e->address.sun_family = AF_UNIX;
	FUZZ_CHECK(fd >= 0 &&
		   bind(fd, (struct sockaddr *)&e->address, sizeof(e->address.sun_family)) == 0);
	e->address_length = sizeof(e->address);
	FUZZ_CHECK(getsockname(fd, (struct sockaddr *)&e->address, &e->address_length) == 0);
	FUZZ_CHECK(listen(fd, PLACES) == 0);
	FUZZ_CHECK(server_new(&e->site.server, e->event, fd, &access_rules, &e->server) == 0);
}

static void end(struct exporter *e)
{
	event_stream_close(e->site.stream);
	actions_close(&e->site.actions);
	e->site.server = server_free(e->site.server);
	e->site.link = link_free(e->site.link);
	e->site.stream = event_stream_free(e->site.stream);
	tails_done(&e->site.tails);
	past_done(&e->site.past);
	totals_done(&e->site.totals);
	copy_done(&e->copy);
	(void)unlink(e->token.path);
	token_done(&e->token);
	e->event = sd_event_unref(e->event);
}

/* Runs the exporter until it waits, and keeps the beginning of its replies. */
static void run(struct exporter *e, int fd, char reply[static REPLY_MAX], size_t *n)
{
	char rest[REPLY_MAX];
	int rounds = 0;
	ssize_t got;

	do {
		while (sd_event_run(e->event, 0) > 0)
			FUZZ_CHECK(rounds++ < ROUNDS_MAX);
		if (*n < REPLY_MAX)
			got = recv(fd, reply + *n, REPLY_MAX - *n, MSG_DONTWAIT);
		else
			got = recv(fd, rest, sizeof(rest), MSG_DONTWAIT);
		if (got > 0 && *n < REPLY_MAX)
			*n += (size_t)got;
	} while (got > 0);
}

/* Returns the status of the first reply; 0: there is none. */
static int status_of(const char *reply, size_t n)
{
	int status = 0;

	/* HTTP/0.9 is not spoken, and no byte of a client is sent back before the headers. */
	FUZZ_CHECK(n == 0 || (n > 12 && memcmp(reply, "HTTP/1.", 7) == 0 && reply[8] == ' '));
	for (int i = 9; n > 0 && i < 12; i++) {
		FUZZ_CHECK(isdigit((unsigned char)reply[i]));
		status = status * 10 + reply[i] - '0';
	}
	FUZZ_CHECK(n == 0 || (status >= 100 && status < 600));
	return status;
}

static int ask(const struct fuzz_input *input, size_t part)
{
	static struct exporter e;
	struct fuzz_input rest = *input;
	const uint8_t *bytes;
	char reply[REPLY_MAX];
	size_t n = 0, size;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), parts = 0;

	begin(&e);
	FUZZ_CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&e.address, e.address_length) == 0);
	run(&e, fd, reply, &n);
	while ((size = fuzz_bytes(&rest, ++parts < PARTS_MAX ? part : SIZE_MAX, &bytes)) > 0) {
		if (send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
		run(&e, fd, reply, &n);
	}
	(void)shutdown(fd, SHUT_WR);
	run(&e, fd, reply, &n);
	(void)fd_close(fd);
	run(&e, -1, reply, &n);
	end(&e);
	return status_of(reply, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	size_t part = 1 + fuzz_byte(&input);
	uint64_t begun = clock_now_usec();
	int whole = ask(&input, SIZE_MAX), parted = ask(&input, part);

	/* A request that a busy machine makes late is ended by the server's limits. */
	FUZZ_CHECK(whole == parted || clock_now_usec() - begun > LATE_USEC);
	return 0;
}
