/*
 * The stream is served by libmicrohttpd, which gets the ends of socket pairs as connections and runs when
 * a test reads.
 */
#include "exporter/http/event-stream.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/exporter/test-exporter.h"

#define LARGE (512 * 1024) /* more than a socket takes */

static struct place {
	sd_event *event;
	struct event_stream *stream;
	struct MHD_Daemon *daemon;
	size_t snapshot_size; /* and as many bytes of a snapshot follow */
	unsigned snapshots;   /* made so far */
	unsigned resumed;     /* clients, so far */
} place;

static void write_snapshot(FILE *to, void *arg)
{
	(void)arg;
	(void)fprintf(to, "snapshot %u\n%*s", ++place.snapshots, (int)place.snapshot_size, "");
}

static void note_resumed(void *arg)
{
	(void)arg;
	place.resumed++;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **state)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	(void)arg, (void)path, (void)method, (void)version, (void)upload, (void)upload_size;
	if (!*state) {
		*state = &place;
		return MHD_YES;
	}
	response = event_stream_response(place.stream, connection, NULL, NULL);
	ck_assert_ptr_nonnull(response);
	result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

static void setup(void)
{
	static const struct event_stream_owner owner = { .snapshot = write_snapshot,
							 .resumed = note_resumed,
							 .clients_max = 4 };

	place = (struct place){ 0 };
	ck_assert_int_ge(sd_event_new(&place.event), 0);
	ck_assert_int_eq(event_stream_new(&place.stream, place.event, &owner), 0);
	place.daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME |
						MHD_USE_NO_LISTEN_SOCKET,
					0, NULL, NULL, on_request, NULL, MHD_OPTION_END);
	ck_assert_ptr_nonnull(place.daemon);
}

static void run(void)
{
	for (int i = 0; i < 20; i++)
		ck_assert(MHD_run(place.daemon) == MHD_YES);
}

static void teardown(void)
{
	event_stream_close(place.stream);
	run();
	MHD_stop_daemon(place.daemon);
	event_stream_free(place.stream);
	sd_event_unref(place.event);
}

/* Returns the socket of a new client. */
static int begin_client(void)
{
	static const char request[] = "GET /events HTTP/1.1\r\nHost: a\r\n\r\n";
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair),
			 0);
	ck_assert(MHD_add_connection(place.daemon, pair[0],
				     &(struct sockaddr){ .sa_family = AF_UNIX },
				     sizeof(struct sockaddr)) == MHD_YES);
	ck_assert_int_eq(write(pair[1], request, strlen(request)), (ssize_t)strlen(request));
	run();
	return pair[1];
}

/* Returns all that has come, until the next call. */
static const char *read_client(int fd)
{
	static char data[1024 * 1024];
	size_t length = 0;
	ssize_t n;

	while ((n = read(fd, data + length, sizeof(data) - 1 - length)) > 0) {
		length += (size_t)n;
		run();
	}
	data[length] = '\0';
	return data;
}

static bool client_gets(int fd, const char *text)
{
	return strstr(read_client(fd), text);
}

static unsigned count_clients(void)
{
	run();
	return MHD_get_daemon_info(place.daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
		->num_connections;
}

START_TEST(a_client_after_a_pause_gets_a_new_snapshot)
{
	int fd;

	place.snapshot_size = LARGE;
	fd = begin_client();
	ck_assert_int_eq(close(fd), 0);
	run();
	ck_assert(!event_stream_is_used(place.stream));
	/* It is no frame, as there is no client. */
	event_stream_send(place.stream, "node", json_object());
	fd = begin_client();
	ck_assert(client_gets(fd, "snapshot 2\n"));
	ck_assert_int_eq(close(fd), 0);
}
END_TEST

START_TEST(clients_share_a_snapshot_and_read_the_changes_since_then)
{
	bool shared = false;

	for (int i = 0; i < 50 && !shared; i++) {
		const char *begin;
		char text[64];
		int first, second;

		first = begin_client();
		(void)snprintf(text, sizeof(text), "snapshot %u\n", place.snapshots);
		ck_assert(client_gets(first, text));
		event_stream_send(place.stream, "node", json_object());
		second = begin_client();
		/* Unless 0.2 seconds have passed meanwhile. */
		begin = read_client(second);
		shared = strstr(begin, text);
		ck_assert(!shared || strstr(begin, "event: node"));
		ck_assert(client_gets(first, "event: node"));
		ck_assert_int_eq(close(first), 0);
		ck_assert_int_eq(close(second), 0);
		event_stream_send(place.stream, "end", json_object());
		run();
	}
	ck_assert(shared);
}
END_TEST

START_TEST(a_client_is_resumed_once_for_all_that_has_come)
{
	int fd = begin_client();

	ck_assert(client_gets(fd, "snapshot 1\n"));
	ck_assert_uint_eq(place.resumed, 0);
	event_stream_send(place.stream, "node", json_object());
	event_stream_send(place.stream, "guard", json_object());
	ck_assert_uint_eq(place.resumed, 1);
	run();
	ck_assert(client_gets(fd, "event: node\ndata: {}\n\nevent: guard\n"));
	event_stream_send(place.stream, "node", json_object());
	ck_assert_uint_eq(place.resumed, 2);
	run();
	ck_assert(client_gets(fd, "event: node\n"));
	ck_assert_int_eq(close(fd), 0);
}
END_TEST

START_TEST(the_streams_of_all_clients_can_be_ended)
{
	int first = begin_client(), second = begin_client();

	ck_assert(client_gets(first, "snapshot 1\n"));
	event_stream_close(place.stream);
	run();
	/* The last chunk. */
	ck_assert(client_gets(first, "0\r\n\r\n"));
	ck_assert(client_gets(second, "0\r\n\r\n"));
	ck_assert(!event_stream_is_used(place.stream));
	ck_assert_int_eq(close(first), 0);
	ck_assert_int_eq(close(second), 0);
}
END_TEST

START_TEST(a_client_that_does_not_read_is_ended)
{
	int reads, stuck;

	place.snapshot_size = LARGE;
	reads = begin_client();
	stuck = begin_client();
	ck_assert(client_gets(reads, "snapshot 1\n"));
	event_stream_end_slow(place.stream, clock_now_usec());
	ck_assert_int_eq(count_clients(), 2);
	event_stream_end_slow(place.stream, clock_now_usec() + STREAM_COMMENT_USEC);
	ck_assert_int_eq(count_clients(), 1);
	event_stream_send(place.stream, "node", json_object());
	run();
	ck_assert(client_gets(reads, "event: node"));
	ck_assert_int_eq(close(reads), 0);
	ck_assert_int_eq(close(stuck), 0);
}
END_TEST

TCase *stream_tests(void)
{
	TCase *tests = tcase_create("stream");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_client_after_a_pause_gets_a_new_snapshot);
	tcase_add_test(tests, clients_share_a_snapshot_and_read_the_changes_since_then);
	tcase_add_test(tests, a_client_is_resumed_once_for_all_that_has_come);
	tcase_add_test(tests, the_streams_of_all_clients_can_be_ended);
	tcase_add_test(tests, a_client_that_does_not_read_is_ended);
	return tests;
}
