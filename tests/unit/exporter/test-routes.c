/* The whole exporter but its options, in one loop with its daemon and its client. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "exporter/http/news.h"
#include "exporter/http/routes.h"
#include "exporter/text/metrics.h"
#include "tests/unit/exporter/test-daemon.h"
#include "tests/unit/fixtures/scratch.h"

#define TOKEN  "0123456789abcdef"
#define PLACES 8 /* for connections */
#define NODES                                                                               \
	"[" NODE("", "running", "") "," NODE("web", "running", SERVICE("up", "")) "," NODE( \
		"db", "running", SERVICE("up", "")) "," NODE("group", "running", "") "]"

static struct exporter {
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
	struct sockaddr_storage address;
	socklen_t address_size;
} e;

/* The client of one request. */
static struct {
	int fd;
	char reply[65536];
	size_t n;
	bool ended;
} client;

static const struct access rules;

static void begin_rooms(void)
{
	struct site *site = &e.site;

	e.actions =
		(struct actions_owner){ e.event, &e.log, CONTROL, &e.token, news_resumed, site };
	e.tails = (struct tails_owner){ .event = e.event,
					.socket = CONTROL,
					.max = 1,
					.changed = news_tail,
					.line = news_line,
					.arg = site };
	e.link = (struct link_owner){ &e.log, news_take, site };
	e.stream = (struct event_stream_owner){ news_snapshot, news_resumed, news_left, site, 1 };
	e.server = (struct server_owner){ routes_get, site, NULL, PLACES };
	actions_init(&site->actions, &e.actions);
	tails_init(&site->tails, &e.tails);
	ck_assert_int_eq(event_stream_new(&site->stream, e.event, &e.stream), 0);
	ck_assert_int_eq(link_new(&site->link, e.event, CONTROL, &e.copy, &e.link), 0);
	e.server.actions = &site->actions;
}

/* Serves at @address.  Return: false if the machine has none such. */
static bool serve(const void *address, socklen_t size)
{
	int fd = socket(*(const sa_family_t *)address, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, address, size) < 0)
		return close(fd), false;
	ck_assert_int_eq(listen(fd, 8), 0);
	e.address_size = sizeof(e.address);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&e.address, &e.address_size), 0);
	ck_assert_int_eq(server_new(&e.site.server, e.event, fd, &rules, &e.server), 0);
	return true;
}

static void setup(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "http" };

	e = (struct exporter){ 0 };
	make_directory();
	log_init(&e.log, "test", LOG_NOTICE);
	e.log.fd = memfd_create("log", MFD_CLOEXEC);
	e.site.copy = &e.copy;
	e.site.max_nodes = METRICS_NODES_DEFAULT;
	copy_init(&e.copy);
	totals_init(&e.site.totals);
	take_nodes(&e.copy, NODES);
	write_file("token", TOKEN, strlen(TOKEN));
	ck_assert_int_eq(chmod("token", 0600), 0);
	ck_assert(token_init(&e.token, "token", &e.log));
	ck_assert_int_ge(sd_event_new(&e.event), 0);
	begin_rooms();
	ck_assert(serve(&address, sizeof(address)));
}

static void teardown(void)
{
	event_stream_close(e.site.stream);
	actions_close(&e.site.actions);
	server_free(e.site.server);
	link_free(e.site.link);
	event_stream_free(e.site.stream);
	tails_done(&e.site.tails);
	past_done(&e.site.past);
	totals_done(&e.site.totals);
	copy_done(&e.copy);
	token_done(&e.token);
	(void)close(e.log.fd);
	(void)sd_event_unref(e.event);
	remove_directory();
}

/* --- the client --- */

static int on_reply(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	size_t room = sizeof(client.reply) - 1 - MIN(client.n, sizeof(client.reply) - 1);
	ssize_t n = read(fd, client.reply + client.n, room);

	(void)events, (void)arg;
	if (n > 0)
		client.n += (size_t)n;
	client.reply[client.n] = '\0';
	client.ended = n <= 0;
	if (client.ended)
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

/* Sends @request, and returns the status of the reply, which is complete; 0: there is none. */
static int ask(const char *request)
{
	sd_event_source *source;

	client.n = 0;
	client.ended = false;
	client.fd = socket(e.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(client.fd, (struct sockaddr *)&e.address, e.address_size), 0);
	ck_assert_int_eq(write(client.fd, request, strlen(request)), (ssize_t)strlen(request));
	ck_assert_int_ge(sd_event_add_io(e.event, &source, client.fd, EPOLLIN, on_reply, NULL), 0);
	AWAIT(e.event, client.ended);
	(void)sd_event_source_disable_unref(source);
	(void)close(client.fd);
	return client.n > 12 ? atoi(client.reply + 9) : 0;
}

static int get(const char *path)
{
	char request[300];

	(void)snprintf(request, sizeof(request),
		       "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
	return ask(request);
}

static int post(const char *body)
{
	char request[400];

	(void)snprintf(request, sizeof(request),
		       "POST /api/action HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
		       "Authorization: Bearer " TOKEN "\r\nContent-Type: application/json\r\n"
		       "Content-Length: %zu\r\n\r\n%s",
		       strlen(body), body);
	return ask(request);
}

static bool has(const char *text)
{
	return strstr(client.reply, text);
}

static const char *log_text(void)
{
	static char text[4096];
	ssize_t n = pread(e.log.fd, text, sizeof(text) - 1, 0);

	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	return text;
}

static void clear_log(void)
{
	ck_assert_int_eq(ftruncate(e.log.fd, 0), 0);
	ck_assert_int_eq(lseek(e.log.fd, 0, SEEK_SET), 0);
}

/* --- requests --- */

/* Of an exporter that has a copy, while there is no daemon. */
static const struct {
	const char *path;
	int status;
	const char *part;
} replies[] = {
	{ "/", 200, "data-path=\"web\"" },
	{ "/node/web", 200, "data-path=\"web\"" },
	{ "/shutdown", 200, "</html>" },
	{ "/index.html", 200, "data-path=\"web\"" },
	{ "/style.css", 200, "Content-Type: text/css; charset=utf-8\r\nContent-Encoding: gzip" },
	{ "/nothing", 404, "no such page" },
	{ "/api/tree", 200, "\"features\":{\"actions\":true,\"logs\":true}" },
	{ "/api/node/web", 200, "\"path\":\"web\"" },
	{ "/api/node/", 200, "\"path\":\"\"" },
	{ "/api/node/nope", 404, "no such node" },
	{ "/api/shutdown", 200, "{" },
	{ "/api/dependencies", 200, "\"dependencies\"" },
	{ "/api/history", 404, "" },
	{ "/metrics", 200, "\nswansong_up 0\n" },
	{ "/metrics/usage", 200, "\n# TYPE " },
	{ "/healthz", 503, "\"ok\":false" },
	{ "/readyz", 503, "\"ok\":false" },
	{ "/startupz", 503, "\"ok\":false" },
	{ "/api/logs", 404, "no such node" },
	{ "/api/logs?node=nope", 404, "no such node" },
	{ "/api/logs?node=group", 200, "{\"node\":\"group\",\"lines\":[]}" },
	{ "/api/logs?node=web", 502, "the daemon does not answer" },
	{ "/api/logs?node=web&lines=0", 400, "expected 1 to 200" },
	{ "/api/logs?node=web&lines=201", 400, "expected 1 to 200" },
	{ "/api/logs?node=web&lines=x", 400, "expected 1 to 200" },
};

START_TEST(each_path_has_its_reply)
{
	int status = get(replies[_i].path);

	ck_assert_msg(status == replies[_i].status, "%s: %d", replies[_i].path, status);
	ck_assert_msg(has(replies[_i].part), "%s: %s", replies[_i].path, client.reply);
}
END_TEST

#define GET	"GET /api/tree HTTP/1.1\r\nConnection: close\r\n"
#define POST	"POST /api/action HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\n"
#define BEARER	"Authorization: Bearer " TOKEN "\r\n"
#define IS_JSON "Content-Type: application/json\r\n"

static const struct {
	const char *request;
	int status;
	const char *part;
} requests[] = {
	{ GET "Host: localhost\r\n\r\n", 200, "\"nodes\"" },
	{ GET "\r\n", 400, "" },
	{ GET "Host: localhost\r\nHost: localhost\r\n\r\n", 400, "expected one header Host" },
	{ "GET /api/tree HTTP/1.0\r\n\r\n", 200, "\"nodes\"" },
	{ GET "Host: evil.example\r\n\r\n", 421, "unknown host" },
	{ GET "Host: localhost\r\nOrigin: http://localhost\r\n\r\n", 200, "" },
	{ GET "Host: localhost\r\nOrigin: http://evil.example\r\n\r\n", 403, "of another site" },
	{ GET "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n", 403, "of another site" },
	{ GET "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\r\n",
	  200, "" },
	{ "PUT /api/tree HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\n\r\n", 405,
	  "\r\nAllow: GET, HEAD\r\n" },
	{ "GET /api/action HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\n\r\n", 405,
	  "\r\nAllow: POST\r\n" },
	{ POST IS_JSON "Content-Length: 0\r\n\r\n", 401, "\r\nWWW-Authenticate: Bearer\r\n" },
	{ POST BEARER "Content-Length: 0\r\n\r\n", 415, "application/json" },
	{ POST BEARER "Content-Type: application/jsonp\r\nContent-Length: 0\r\n\r\n", 415, "" },
	{ POST BEARER "Content-Type: application/json; charset=x\r\nContent-Length: 0\r\n\r\n", 400,
	  "expected a body" },
	{ POST BEARER IS_JSON "Content-Length: 4097\r\n\r\n", 413, "longer than 4096 bytes" },
};

START_TEST(a_request_is_allowed_or_refused_by_its_headers)
{
	int status = ask(requests[_i].request);

	ck_assert_msg(status == requests[_i].status, "%d: %s", status, requests[_i].request);
	ck_assert_msg(has(requests[_i].part), "%s", client.reply);
	/* No other site can use a reply. */
	ck_assert(*requests[_i].part == '\0' || has("\r\nX-Content-Type-Options: nosniff\r\n"));
}
END_TEST

START_TEST(actions_are_refused_without_a_token)
{
	/* The owner is copied. */
	e.actions.token = NULL;
	actions_init(&e.site.actions, &e.actions);
	ck_assert_int_eq(post("{\"action\":\"start\",\"node\":\"web\"}"), 403);
	ck_assert(has("--actions"));
	ck_assert_int_eq(get("/api/tree"), 200);
	ck_assert(has("\"actions\":false"));
}
END_TEST

START_TEST(a_page_is_the_file_with_the_tree_in_it)
{
	ck_assert_int_eq(get("/"), 200);
	ck_assert(has("Content-Type: text/html"));
	ck_assert(has("<!DOCTYPE html>") || has("<!doctype html>"));
	ck_assert(!has("<!--tree-->"));
	ck_assert(has("</html>"));
}
END_TEST

START_TEST(logs_of_more_services_than_are_allowed_are_refused)
{
	ck_assert_int_eq(get("/api/logs?node=web"), 502);
	ck_assert_int_eq(get("/api/logs?node=db"), 503);
	ck_assert(has("--max-logs"));
}
END_TEST

START_TEST(logs_are_refused_without_the_option)
{
	tails_done(&e.site.tails);
	e.tails.max = 0;
	tails_init(&e.site.tails, &e.tails);
	ck_assert_int_eq(get("/api/logs?node=web"), 403);
	ck_assert(has("--logs"));
}
END_TEST

static const struct {
	const char *reply;
	int status;
	const char *part;
} outcomes[] = {
	{ "{\"parameters\":{}}", 200, "{\"ok\":true}" },
	{ "{\"error\":\"io.swansong.NoSuchNode\",\"parameters\":{\"node\":\"web\"}}", 404,
	  "no such node" },
	{ "{\"error\":\"io.swansong.NodeStopped\",\"parameters\":{\"node\":\"web\"}}", 409,
	  "the node is stopped" },
	{ "{\"error\":\"io.swansong.NotPermitted\",\"parameters\":{\"reason\":\"not you\"}}", 403,
	  "not you" },
	{ "{\"error\":\"io.swansong.Failed\",\"parameters\":{\"node\":\"web\",\"reason\":\"it "
	  "failed\"}}",
	  409, "it failed" },
	{ "{\"error\":\"io.swansong.TooMany\",\"parameters\":{\"reason\":\"many\"}}", 503, "many" },
	{ "{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":{}}", 502,
	  "org.varlink.service.MethodNotFound" },
	{ "[]", 502, "the connection to the daemon was lost" },
};

START_TEST(the_reply_of_the_daemon_is_that_to_an_action)
{
	daemon_begin(e.event);
	daemon_reply("Restart", outcomes[_i].reply);
	ck_assert_int_eq(post("{\"action\":\"restart\",\"node\":\"web\"}"), outcomes[_i].status);
	ck_assert_msg(has(outcomes[_i].part), "%s", client.reply);
	ck_assert_str_eq(daemon_parameters("Restart"), "{\"node\":\"web\",\"wait\":false}");
	daemon_end();
}
END_TEST

START_TEST(an_action_without_a_reply_ends_after_its_time)
{
	daemon_begin(e.event);
	timers_skip(ACTION_USEC);
	ck_assert_int_eq(post("{\"action\":\"stop\",\"node\":\"web\"}"), 504);
	ck_assert(has("the daemon does not answer"));
	daemon_end();
}
END_TEST

START_TEST(an_action_without_a_daemon_fails)
{
	ck_assert_int_eq(post("{\"action\":\"start\",\"node\":\"web\"}"), 502);
	ck_assert(has("No such file or directory"));
	ck_assert_int_eq(post("{\"action\":\"halt\",\"node\":\"web\"}"), 400);
}
END_TEST

/* --- clients --- */

/* They send no request. */
START_TEST(the_oldest_connection_makes_room_for_a_new_one)
{
	int fds[PLACES];
	char c;

	for (size_t i = 0; i < PLACES; i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		ck_assert_int_eq(connect(fds[i], (struct sockaddr *)&e.address, e.address_size), 0);
	}
	ck_assert_int_eq(get("/healthz"), 503);
	/* The first one has ended, and the others have not. */
	ck_assert_int_eq(recv(fds[0], &c, 1, MSG_DONTWAIT), 0);
	for (size_t i = 1; i < PLACES; i++)
		ck_assert_int_eq(recv(fds[i], &c, 1, MSG_DONTWAIT), -1);
	for (size_t i = 0; i < PLACES; i++)
		(void)close(fds[i]);
}
END_TEST

START_TEST(the_client_of_an_action_is_logged)
{
	char text[100];

	(void)snprintf(text, sizeof(text), "web: uid %u, pid %d asks for io.swansong.Start\n",
		       getuid(), getpid());
	ck_assert_int_eq(post("{\"action\":\"start\",\"node\":\"web\"}"), 502);
	ck_assert_msg(strstr(log_text(), text), "%s", log_text());
}
END_TEST

/* Serves at @address instead, and posts an action there. */
static bool post_at(const void *address, socklen_t size)
{
	e.site.server = server_free(e.site.server);
	if (!serve(address, size))
		return false;
	ck_assert_int_eq(post("{\"action\":\"start\",\"node\":\"web\"}"), 502);
	return true;
}

START_TEST(a_client_of_a_network_is_logged_with_its_address)
{
	const struct sockaddr_in in = { .sin_family = AF_INET,
					.sin_addr = { htonl(INADDR_LOOPBACK) } };
	const struct sockaddr_in6 mapped = {
		.sin6_family = AF_INET6,
		.sin6_addr = { { { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 } } }
	};
	const struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
					  .sin6_addr = IN6ADDR_LOOPBACK_INIT };

	ck_assert(post_at(&in, sizeof(in)));
	ck_assert_msg(strstr(log_text(), "web: 127.0.0.1, port "), "%s", log_text());
	clear_log();
	/* A machine may be without IPv6. */
	if (post_at(&mapped, sizeof(mapped)))
		ck_assert_msg(strstr(log_text(), "web: 127.0.0.1, port "), "%s", log_text());
	if (post_at(&in6, sizeof(in6)))
		ck_assert_msg(strstr(log_text(), "web: ::1, port "), "%s", log_text());
}
END_TEST

TCase *routes_tests(void)
{
	TCase *tests = tcase_create("routes");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, each_path_has_its_reply, 0, ARRAY_SIZE(replies));
	tcase_add_loop_test(tests, a_request_is_allowed_or_refused_by_its_headers, 0,
			    ARRAY_SIZE(requests));
	tcase_add_test(tests, actions_are_refused_without_a_token);
	tcase_add_test(tests, a_page_is_the_file_with_the_tree_in_it);
	tcase_add_test(tests, logs_of_more_services_than_are_allowed_are_refused);
	tcase_add_test(tests, logs_are_refused_without_the_option);
	tcase_add_loop_test(tests, the_reply_of_the_daemon_is_that_to_an_action, 0,
			    ARRAY_SIZE(outcomes));
	tcase_add_test(tests, an_action_without_a_reply_ends_after_its_time);
	tcase_add_test(tests, an_action_without_a_daemon_fails);
	tcase_add_test(tests, the_oldest_connection_makes_room_for_a_new_one);
	tcase_add_test(tests, the_client_of_an_action_is_logged);
	tcase_add_test(tests, a_client_of_a_network_is_logged_with_its_address);
	return tests;
}
