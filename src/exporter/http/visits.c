/*
 * The timeout of libmicrohttpd begins again with each byte.  So the connections with a limit are in
 * a list here, the oldest first; shutdown(2) of its socket makes libmicrohttpd end a connection.
 */
#include "exporter/http/visits.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/fd.h"

#define VISIT_USEC (15 * USEC_PER_SEC)

struct visit {
	struct list in_visits; /* unless its time is not limited */
	int fd;
	uint64_t since_usec; /* the end of the last reply or pause, or the begin */
};

static void visits_set_limit(struct visits *visits)
{
	bool any = !list_is_empty(&visits->list);

	if (any)
		(void)sd_event_source_set_time(
			visits->limit,
			list_entry(visits->list.next, struct visit, in_visits)->since_usec +
				VISIT_USEC);
	(void)sd_event_source_set_enabled(visits->limit, any ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static void visits_append(struct visits *visits, struct visit *visit)
{
	list_remove(&visit->in_visits);
	visit->since_usec = clock_now_usec();
	list_append(&visits->list, &visit->in_visits);
	visits_set_limit(visits);
}

static int visits_on_limit(sd_event_source *source, uint64_t usec, void *arg)
{
	struct visits *visits = arg;
	struct visit *visit, *next;

	(void)source;
	list_for_each_safe (visit, next, &visits->list, in_visits) {
		if (visit->since_usec + VISIT_USEC > usec)
			break;
		list_remove(&visit->in_visits);
		(void)shutdown(visit->fd, SHUT_RDWR);
	}
	visits_set_limit(visits);
	return 0;
}

void visits_notify(void *arg, struct MHD_Connection *connection, void **context,
		   enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct visits *visits = arg;
	struct visit *visit = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		/* Without memory, only the limit of libmicrohttpd applies. */
		*context = visit = malloc(sizeof(*visit));
		if (!visit)
			return;
		*visit = (struct visit){ .fd = info ? info->connect_fd : -1 };
		list_init(&visit->in_visits);
		visits_append(visits, visit);
	} else if (visit) {
		list_remove(&visit->in_visits);
		free(visit);
		*context = NULL;
		visits_set_limit(visits);
	}
}

static struct visit *visit_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

void visits_renew(struct visits *visits, struct MHD_Connection *connection)
{
	struct visit *visit = visit_of(connection);

	if (visit)
		visits_append(visits, visit);
}

void visits_completed(void *arg, struct MHD_Connection *connection, void **state,
		      enum MHD_RequestTerminationCode code)
{
	(void)state, (void)code;
	visits_renew(arg, connection);
}

void visits_grant_time(struct MHD_Connection *connection)
{
	struct visit *visit = visit_of(connection);

	if (visit)
		list_remove(&visit->in_visits);
}

int visits_init(struct visits *visits, sd_event *event)
{
	int r = sd_event_add_time(event, &visits->limit, CLOCK_MONOTONIC, 0, 1, visits_on_limit,
				  visits);

	list_init(&visits->list);
	if (r >= 0)
		r = sd_event_source_set_enabled(visits->limit, SD_EVENT_OFF);
	return MIN(r, 0);
}

void visits_done(struct visits *visits)
{
	visits->limit = sd_event_source_disable_unref(visits->limit);
}
