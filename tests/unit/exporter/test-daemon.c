#include "tests/unit/exporter/test-daemon.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "proto/client.h"
#include "proto/frame.h"
#include "proto/message.h"

#define METHODS_MAX	12
#define CONNECTIONS_MAX 16
#define TIMERS_MAX	256

static struct method {
	const char *name, *reply;
	unsigned count;
	int passed; /* 0: none */
	int fd;	    /* of the last call */
	char parameters[512];
} methods[METHODS_MAX];

static struct connection {
	int fd; /* 0: none */
	struct frame_reader reader;
	sd_event_source *io;
} connections[CONNECTIONS_MAX];

static sd_event_source *listener;
static size_t n_open, n_ended;
static char calls[1024];
static uint64_t skipped_usec, timers[TIMERS_MAX];
static size_t n_timers;

static struct method *find_method(const char *name)
{
	struct method *method = methods;

	while (method->name && strcmp(method->name, name) != 0)
		ck_assert(++method < methods + METHODS_MAX);
	method->name = method->name ? method->name : name;
	return method;
}

static void send_reply(struct method *method)
{
	struct frame_writer writer;

	frame_writer_init(&writer, 65536);
	if (method->passed)
		frame_writer_pass(&writer, method->passed);
	method->passed = 0;
	ck_assert_int_eq(frame_writer_add(&writer, method->reply), 0);
	ck_assert_int_eq(frame_writer_send(&writer, method->fd), 1);
	frame_writer_done(&writer);
}

static void take_call(const struct connection *connection, const char *text)
{
	json_t *call = json_of(text);
	const char *name = strrchr(message_get_text(call, "method"), '.') + 1;
	struct method *method;
	char *parameters;

	/* The name in the table has to outlive the call. */
	method = find_method(name);
	if (method->name == name)
		method->name = strdup(name);
	method->count++;
	method->fd = connection->fd;
	parameters = json_dumps(json_object_get(call, "parameters"), JSON_COMPACT);
	(void)snprintf(method->parameters, sizeof(method->parameters), "%s", parameters);
	free(parameters);
	(void)snprintf(calls + strlen(calls), sizeof(calls) - strlen(calls), "%s ", name);
	if (method->reply)
		send_reply(method);
	json_decref(call);
}

static void end_connection(struct connection *connection)
{
	for (size_t i = 0; i < METHODS_MAX; i++)
		if (methods[i].fd == connection->fd)
			methods[i].fd = -1;
	connection->io = sd_event_source_disable_unref(connection->io);
	frame_reader_done(&connection->reader);
	(void)close(connection->fd);
	connection->fd = 0;
	n_open--;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct connection *connection = arg;
	const char *text;
	size_t size;
	char *space;
	ssize_t n;

	(void)source, (void)events;
	ck_assert_int_eq(frame_reader_space(&connection->reader, &space, &size), 0);
	n = read(fd, space, size);
	if (n <= 0) {
		end_connection(connection);
		n_ended++;
		return 0;
	}
	frame_reader_commit(&connection->reader, (size_t)n);
	while (frame_next(&connection->reader, &text, NULL) > 0)
		take_call(connection, text);
	return 0;
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct connection *connection = connections;

	(void)source, (void)events, (void)arg;
	while (connection->fd)
		ck_assert(++connection < connections + CONNECTIONS_MAX);
	connection->fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	ck_assert_int_gt(connection->fd, 0);
	frame_reader_init(&connection->reader, 65536);
	ck_assert_int_ge(sd_event_add_io(sd_event_source_get_event(source), &connection->io,
					 connection->fd, EPOLLIN, on_readable, connection),
			 0);
	n_open++;
	return 0;
}

void daemon_begin(sd_event *event)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = CONTROL };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memset(methods, 0, sizeof(methods));
	*calls = '\0';
	n_ended = n_timers = skipped_usec = 0;
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, CONNECTIONS_MAX), 0);
	ck_assert_int_ge(sd_event_add_io(event, &listener, fd, EPOLLIN, on_connection, NULL), 0);
	ck_assert_int_ge(sd_event_source_set_io_fd_own(listener, true), 0);
}

void daemon_drop(void)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (connections[i].fd)
			end_connection(&connections[i]);
}

void daemon_end(void)
{
	daemon_drop();
	listener = sd_event_source_disable_unref(listener);
	(void)unlink(CONTROL);
}

void daemon_reply(const char *method, const char *reply)
{
	find_method(method)->reply = reply;
}

void daemon_pass(const char *method, int fd)
{
	find_method(method)->passed = fd;
}

void daemon_add_reply(const char *method, const char *reply)
{
	struct method copy = *find_method(method);

	copy.reply = reply;
	send_reply(&copy);
}

const char *daemon_calls(void)
{
	return calls;
}

unsigned daemon_count(const char *method)
{
	return find_method(method)->count;
}

const char *daemon_parameters(const char *method)
{
	return find_method(method)->parameters;
}

size_t daemon_connections(void)
{
	return n_open;
}

size_t daemon_ended(void)
{
	return n_ended;
}

/* A busy machine may stop the test for longer than the exporter waits for a connection. */
int __real_client_connect(struct client **ret, const char *path, uint64_t deadline_usec);
int __wrap_client_connect(struct client **ret, const char *path, uint64_t deadline_usec);
int __wrap_client_connect(struct client **ret, const char *path, uint64_t deadline_usec)
{
	(void)deadline_usec;
	return __real_client_connect(ret, path, USEC_INFINITY);
}

/* --- timers --- */

static uint64_t note_time(uint64_t usec)
{
	if (n_timers < TIMERS_MAX)
		timers[n_timers++] = usec;
	return skipped_usec && usec == skipped_usec ? 0 : usec;
}

int __real_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec)
{
	return __real_sd_event_source_set_time_relative(source, note_time(usec));
}

int __real_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy, sd_event_time_handler_t fn,
				      void *arg);
int __wrap_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy, sd_event_time_handler_t fn,
				      void *arg);
int __wrap_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy, sd_event_time_handler_t fn,
				      void *arg)
{
	return __real_sd_event_add_time_relative(event, ret, clock, note_time(usec), accuracy, fn,
						 arg);
}

void timers_skip(uint64_t usec)
{
	skipped_usec = usec;
}

unsigned timers_count(uint64_t usec)
{
	unsigned n = 0;

	for (size_t i = 0; i < n_timers; i++)
		n += timers[i] == usec;
	return n;
}
