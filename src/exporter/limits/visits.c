/*
 * The timeout of libmicrohttpd begins again with each byte, and its limit of connections keeps new ones
 * away.  So the connections with a limit are in lists here; shutdown(2) of its socket makes
 * libmicrohttpd end a connection, in its next turn.
 */
#include "exporter/limits/visits.h"

#include "exporter/limits/client.h"

#define HEAD_USEC  (5 * USEC_PER_SEC)
#define VISIT_USEC (15 * USEC_PER_SEC)
/* A new connection replaces one of so many that are compared, so that a flood costs little. */
#define CANDIDATES 64

struct visit {
	struct list in_visits; /* unless its time is not limited */
	int fd;
	uint16_t *count; /* of its client; NULL: it is in no list */
	bool paused, ended;
	uint64_t since_usec; /* the end of the last reply or pause, or the begin */
};

static struct visit *visits_first(const struct list *list)
{
	return list_is_empty(list) ? NULL : list_entry(list->next, struct visit, in_visits);
}

static void visits_set_limit(struct visits *visits)
{
	const struct visit *head = visits_first(&visits->heads),
			   *later = visits_first(&visits->later);
	uint64_t usec = USEC_INFINITY;

	if (head)
		usec = head->since_usec + HEAD_USEC;
	if (later)
		usec = MIN(usec, later->since_usec + VISIT_USEC);
	(void)sd_event_source_set_time(visits->limit, usec);
	(void)sd_event_source_set_enabled(visits->limit, SD_EVENT_ONESHOT);
}

static void visits_remove(struct visit *visit)
{
	list_remove(&visit->in_visits);
	if (visit->count)
		--*visit->count;
	visit->count = NULL;
}

static void visits_append(struct visits *visits, struct list *list, struct visit *visit,
			  struct MHD_Connection *connection)
{
	visits_remove(visit);
	visit->count = &visits->counts[client_hash(connection) % ARRAY_SIZE(visits->counts)];
	++*visit->count;
	visit->since_usec = clock_now_usec();
	list_append(list, &visit->in_visits);
	visits_set_limit(visits);
}

static void visits_end(struct visits *visits, struct visit *visit)
{
	visits_remove(visit);
	/* libmicrohttpd does not see the end of a suspended connection. */
	visit->ended = !visit->paused;
	visits->n -= visit->ended;
	(void)shutdown(visit->fd, SHUT_RDWR);
}

static void visits_end_late(struct visits *visits, struct list *list, uint64_t limit_usec,
			    uint64_t usec)
{
	struct visit *visit;

	while ((visit = visits_first(list)) && visit->since_usec + limit_usec <= usec)
		visits_end(visits, visit);
}

static int visits_on_limit(sd_event_source *source, uint64_t usec, void *arg)
{
	struct visits *visits = arg;

	visits_end_late(visits, &visits->heads, HEAD_USEC, usec);
	visits_end_late(visits, &visits->later, VISIT_USEC, usec);
	visits_set_limit(visits);
	return 0;
}

/* Returns the oldest connection of the client with the most ones, or NULL. */
static struct visit *visits_find_place(const struct list *list)
{
	struct visit *visit, *found = NULL;
	unsigned n = 0;

	list_for_each (visit, list, in_visits) {
		if (++n > CANDIDATES)
			break;
		if (!visit->paused && (!found || *visit->count > *found->count))
			found = visit;
	}
	return found;
}

static void visits_begin(struct visits *visits, struct MHD_Connection *connection, void **context)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	/* Without memory, only the limits of libmicrohttpd apply. */
	struct visit *visit = *context = malloc(sizeof(*visit));

	if (!visit)
		return;
	*visit = (struct visit){ .fd = info ? info->connect_fd : -1 };
	list_init(&visit->in_visits);
	if (visits->n++ >= visits->places) {
		struct visit *former = visits_find_place(&visits->heads);

		if (!former)
			former = visits_find_place(&visits->later);
		if (former)
			visits_end(visits, former);
	}
	visits_append(visits, &visits->heads, visit, connection);
}

void visits_notify(void *arg, struct MHD_Connection *connection, void **context,
		   enum MHD_ConnectionNotificationCode code)
{
	struct visits *visits = arg;
	struct visit *visit = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		visits_begin(visits, connection, context);
	} else if (visit) {
		visits_remove(visit);
		visits->n -= !visit->ended;
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

bool visits_renew(struct visits *visits, struct MHD_Connection *connection, bool paused)
{
	struct visit *visit = visit_of(connection);

	/* A request that had come before the end of the connection is read all the same. */
	if (visit && visit->ended)
		return false;
	if (visit) {
		visit->paused = paused;
		visits_append(visits, &visits->later, visit, connection);
	}
	return true;
}

void visits_grant_time(struct visits *visits, struct MHD_Connection *connection)
{
	struct visit *visit = visit_of(connection);

	if (visit)
		visits_remove(visit);
	visits_set_limit(visits);
}

bool visits_are_full(const struct visits *visits)
{
	return visits->n > visits->places;
}

int visits_init(struct visits *visits, sd_event *event, size_t places)
{
	list_init(&visits->heads);
	list_init(&visits->later);
	visits->places = places;
	return MIN(sd_event_add_time(event, &visits->limit, CLOCK_MONOTONIC, USEC_INFINITY, 1,
				     visits_on_limit, visits),
		   0);
}

void visits_done(struct visits *visits)
{
	visits->limit = sd_event_source_disable_unref(visits->limit);
}
