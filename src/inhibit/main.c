/*
 * Locks of systemd-logind for the nodes that the method Inhibit names, in the words of the D-Bus method of that name.  A lock
 * is taken again when its names have changed, before the former one is given up.
 *
 * While the host is going down or to sleep, logind gives no locks, so they are only given up: before a sleep, as soon as no
 * node needs them; before a shutdown, when the daemon has ended.  After the loss of the daemon, they are kept until the
 * attempt to connect again fails.
 */
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

#include "base/log.h"
#include "proto/call.h"

#define NAME	   "swansong-inhibit"
#define EXIT_USAGE 2
#define RETRY_USEC USEC_PER_SEC

#define LOGIND	    "org.freedesktop.login1"
#define LOGIND_PATH "/org/freedesktop/login1"
#define LOGIND_TYPE LOGIND ".Manager"
#define NAMES_MAX   8u /* names of nodes that a lock shows */

enum { LOCK_SHUTDOWN_DELAY, N_LOCKS = 4 };

enum phase { PHASE_AWAKE, PHASE_SLEEP, PHASE_SHUTDOWN };

struct inhibitor {
	struct log log;
	sd_event *event;
	sd_bus *bus;
	const char *socket;
	struct call *call; /* of the daemon; NULL: not connected */
	sd_event_source *retry;
	enum phase phase; /* of the host */
	bool complained;
	struct lock {
		const char *member, *what, *mode;
		int fd;	   /* -1: not held */
		char *why; /* names of nodes; NULL: not needed */
	} locks[N_LOCKS];
};

/* --- locks --- */

static void lock_drop(struct lock *lock)
{
	lock->why = free_memory(lock->why);
	lock->fd = fd_close(lock->fd);
}

/* Return: a descriptor that holds the lock, or -errno. */
static int lock_take(struct inhibitor *h, const struct lock *lock)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *reply = NULL;
	int fd = -1;
	int r = sd_bus_call_method(h->bus, LOGIND, LOGIND_PATH, LOGIND_TYPE, "Inhibit", &error,
				   &reply, "ssss", lock->what, "Swansong", lock->why, lock->mode);

	if (r >= 0)
		r = sd_bus_message_read(reply, "h", &fd);
	if (r >= 0)
		r = fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (r < 0)
		log_line(&h->log, LOG_WARNING, "no %s lock for %s: %s", lock->what, lock->why,
			 error.message ? error.message : strerror(-r));
	sd_bus_message_unref(reply);
	sd_bus_error_free(&error);
	return r < 0 ? r : fd;
}

/* Returns "web, data and 3 more"; NULL: without names, or without memory. */
static char *lock_find_why(const json_t *names)
{
	size_t n = json_array_size(names);
	struct memstream m;
	char *why = NULL;

	if (n == 0 || memstream_open(&m) < 0)
		return NULL;
	for (size_t i = 0; i < MIN(n, NAMES_MAX); i++)
		(void)fprintf(m.file, "%s%s", i ? ", " : "",
			      json_string_value(json_array_get(names, i)));
	if (n > NAMES_MAX)
		(void)fprintf(m.file, " and %zu more", n - NAMES_MAX);
	return memstream_close(&m, &why) < 0 ? NULL : why;
}

static void lock_update(struct inhibitor *h, struct lock *lock, const json_t *names)
{
	struct lock former = *lock;
	char *why = lock_find_why(names);

	if (why && (h->phase != PHASE_AWAKE || (lock->fd >= 0 && strcmp(lock->why, why) == 0))) {
		free(why);
		return;
	}
	lock->why = why;
	lock->fd = why ? lock_take(h, lock) : -1;
	lock_drop(&former);
}

static void inhibitor_drop_locks(struct inhibitor *h)
{
	for (size_t i = 0; i < N_LOCKS; i++)
		lock_drop(&h->locks[i]);
}

/* --- the daemon --- */

static void inhibitor_lose(struct inhibitor *h, int r)
{
	h->call = call_free(h->call);
	if (!h->complained)
		log_line(&h->log, LOG_WARNING, "%s: the daemon does not answer: %s", h->socket,
			 strerror(-r));
	h->complained = true;
	(void)sd_event_source_set_time_relative(h->retry, RETRY_USEC);
	(void)sd_event_source_set_enabled(h->retry, SD_EVENT_ONESHOT);
}

static bool inhibitor_on_reply(const struct message_reply *reply, int r, void *arg)
{
	struct inhibitor *h = arg;

	if (!reply || reply->error) {
		inhibitor_lose(h, reply ? -EPROTO : r);
		return false;
	}
	if (!reply->continues) /* of the shutdown: the daemon ends */
		inhibitor_drop_locks(h);
	h->complained = !reply->continues;
	for (struct lock *l = h->locks; l < h->locks + N_LOCKS && h->phase != PHASE_SHUTDOWN; l++)
		lock_update(h, l, json_object_get(reply->parameters, l->member));
	return true;
}

/* A call by the present phase, on a connection of its own: with the former one, services stop to be stopped for the sleep. */
static void inhibitor_connect(struct inhibitor *h)
{
	const struct call_owner owner = { inhibitor_on_reply, h };
	bool ends = h->phase == PHASE_SHUTDOWN;
	json_t *parameters = ends ? json_pack("{s:s}", "reason", "the host shuts down")
				  : json_pack("{s:b}", "sleep", h->phase == PHASE_SLEEP);
	int r;

	h->call = call_free(h->call);
	r = call_new(&h->call, h->event, h->socket, ends ? METHOD_SHUTDOWN : METHOD_INHIBIT,
		     parameters, MESSAGE_MORE, USEC_INFINITY, &owner);
	if (r == 0)
		return;
	inhibitor_drop_locks(h);
	inhibitor_lose(h, r);
}

static int inhibitor_on_retry(sd_event_source *source, uint64_t usec, void *arg)
{
	inhibitor_connect(arg);
	return 0;
}

/* --- the host --- */

/* Without a lock, the tree is stopped in its turn, with the other units. */
static int inhibitor_on_signal(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	struct inhibitor *h = arg;
	bool shutdown = sd_bus_message_is_signal(m, NULL, "PrepareForShutdown");
	int begins;

	if ((!shutdown && !sd_bus_message_is_signal(m, NULL, "PrepareForSleep")) ||
	    sd_bus_message_read(m, "b", &begins) < 0 ||
	    (shutdown && begins && h->locks[LOCK_SHUTDOWN_DELAY].fd < 0))
		return 0;
	h->phase = !begins ? PHASE_AWAKE : shutdown ? PHASE_SHUTDOWN : PHASE_SLEEP;
	log_line(&h->log, LOG_NOTICE, "the host %s",
		 !begins    ? "is awake"
		 : shutdown ? "shuts down"
			    : "goes to sleep");
	inhibitor_connect(h);
	return 0;
}

static int inhibitor_start(struct inhibitor *h)
{
	int r = sd_event_new(&h->event);

	if (r >= 0)
		r = sd_event_set_signal_exit(h->event, true); /* SIGTERM and SIGINT end the loop */
	if (r >= 0)
		r = sd_event_add_time(h->event, &h->retry, CLOCK_MONOTONIC, 0, 1,
				      inhibitor_on_retry, h);
	if (r >= 0)
		r = sd_bus_open_system(&h->bus);
	if (r >= 0)
		r = sd_bus_attach_event(h->bus, h->event, 0);
	if (r >= 0)
		r = sd_bus_set_exit_on_disconnect(h->bus, true);
	return r < 0 ? r
		     : sd_bus_match_signal(h->bus, NULL, LOGIND, LOGIND_PATH, LOGIND_TYPE, NULL,
					   inhibitor_on_signal, h);
}

int main(int argc, char **argv)
{
	struct inhibitor h = {
		.socket = argv[1],
		.locks = { { "shutdown_delay", "shutdown", "delay", -1, NULL },
			   { "shutdown_block", "shutdown", "block", -1, NULL },
			   { "sleep_delay", "sleep", "delay", -1, NULL },
			   { "sleep_block", "sleep", "block", -1, NULL } },
	};
	int r;

	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts(NAME " " PACKAGE_VERSION) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	if (argc != 2) {
		(void)fputs("usage: " NAME " SOCKET\nSee " NAME "(8).\n", stderr);
		return EXIT_USAGE;
	}
	log_init(&h.log, NAME, LOG_INFO);
	log_use(&h.log, STDERR_FILENO);
	(void)signal(SIGPIPE, SIG_IGN);
	r = inhibitor_start(&h);
	if (r >= 0)
		(void)sd_notify(0, "READY=1");
	if (r >= 0)
		r = sd_event_loop(h.event);
	if (r < 0)
		log_line(&h.log, LOG_ERR, "cannot run: %s", strerror(-r));
	call_free(h.call);
	inhibitor_drop_locks(&h);
	sd_event_source_disable_unref(h.retry);
	sd_bus_flush_close_unref(h.bus);
	sd_event_unref(h.event);
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
