/*
 * A start begins when the service leaves a state without processes, and ends in the state up; a
 * stop begins with the first state of an ordered end, and ends without processes.
 */
#include "exporter/mirror/totals.h"

#include "proto/history/report.h"

DEFINE_DICT_NAME(totals_node_path, struct totals_node, path)

void totals_init(struct totals *totals)
{
	*totals = (struct totals){ 0 };
	dict_init(&totals->by_path, totals_node_path);
}

static struct totals_node *totals_node_free(struct totals_node *node)
{
	if (node)
		free(node->path);
	return free_memory(node);
}
DEFINE_CLEANUP(struct totals_node *, totals_node_free)

void totals_done(struct totals *totals)
{
	for (size_t i = 0; i < totals->n; i++)
		totals_node_free(totals->nodes[i]);
	free(totals->nodes);
	dict_done(&totals->by_path);
}

const struct totals_node *totals_find(const struct totals *totals, const char *path)
{
	return dict_find(&totals->by_path, path);
}

/* Returns NULL without memory: the event is not counted then. */
static struct totals_node *totals_make(struct totals *totals, const char *path)
{
	struct totals_node *found = dict_find(&totals->by_path, path);
	cleanup(totals_node_freep) struct totals_node *node = NULL;

	if (found)
		return found;
	node = calloc(1, sizeof(*node));
	if (!node || array_reserve(totals->nodes, totals->n) < 0)
		return NULL;
	node->path = strdup(path);
	if (!node->path || dict_add(&totals->by_path, node) < 0)
		return NULL;
	totals->nodes[totals->n++] = node;
	return take(node);
}

void totals_prune(struct totals *totals, const struct copy *copy)
{
	size_t kept = 0;

	for (size_t i = 0; i < totals->n; i++) {
		struct totals_node *node = totals->nodes[i];

		if (copy_find(copy, node->path)) {
			totals->nodes[kept++] = node;
			continue;
		}
		dict_remove(&totals->by_path, node->path);
		totals_node_free(node);
	}
	totals->n = kept;
}

static bool totals_is_over(const char *state)
{
	return report_part(state) == REPORT_OVER;
}

static bool totals_is_ordered_end(const char *state)
{
	static const char *const states[] = { "draining", "waiting", "asking",
					      "stopping", "killing", NULL };

	return text_is_one_of(state, states);
}

static void totals_add_duration(struct totals_durations *durations, uint64_t usec)
{
	static const char *const bounds[] = TOTALS_BOUNDS;

	_Static_assert(ARRAY_SIZE(bounds) == TOTALS_BUCKETS - 1, "a bucket has its bound");
	for (size_t i = 0; i < TOTALS_BUCKETS; i++)
		if (i == TOTALS_BUCKETS - 1 || (double)usec <= 1e6 * strtod(bounds[i], NULL))
			durations->buckets[i]++;
	durations->sum_usec += usec;
}

static enum totals_exit totals_exit_kind(const char *reason)
{
	static const char with_status[] = "exited with status ";

	if (strncmp(reason, with_status, strlen(with_status)) == 0)
		return strncmp(reason + strlen(with_status), "0", 2) == 0 ? EXIT_CLEAN
									  : EXIT_STATUS;
	return strncmp(reason, "killed by ", 10) == 0 ? EXIT_SIGNAL : EXIT_OTHER;
}

static void totals_count_event(struct totals_node *node, const json_t *event)
{
	const char *from = message_get_text(event, "from");
	const char *to = message_get_text(event, "to");
	uint64_t now = message_get_number(event, "time_usec", 0);
	static const char *const before[] = { "starting", "readying", "up", NULL };
	static const char *const after[] = { "closing", "cleaning", "finishing", NULL };

	/* The event after which no process is left has the reason of the end, or one before it. */
	if ((text_is_one_of(from, before) || totals_is_ordered_end(from)) &&
	    (text_is_one_of(to, after) || totals_is_over(to)))
		node->exits[totals_exit_kind(message_get_text(event, "reason"))]++;
	node->killed += strcmp(to, "killing") == 0;
	if (strcmp(from, "draining") == 0 && node->draining_usec)
		node->drain_usec += now - MIN(now, node->draining_usec);
	node->draining_usec = strcmp(to, "draining") == 0 ? now : 0;
	if (totals_is_over(from) && !totals_is_over(to))
		node->starting_usec = now;
	if (strcmp(to, "up") == 0 && node->starting_usec)
		totals_add_duration(&node->start, now - MIN(now, node->starting_usec));
	if (strcmp(to, "up") == 0 || totals_is_over(to) || totals_is_ordered_end(to))
		node->starting_usec = 0;
	if (totals_is_ordered_end(to) && !node->stopping_usec)
		node->stopping_usec = now;
	if (totals_is_over(to) && node->stopping_usec)
		totals_add_duration(&node->stop, now - MIN(now, node->stopping_usec));
	if (totals_is_over(to))
		node->stopping_usec = 0;
}

uint64_t totals_outage_usec(const struct totals_node *node, enum outage cause, uint64_t now)
{
	return node->outage_usec[cause] +
	       (node->outage == cause ? now - MIN(now, node->outage_since_usec) : 0);
}

static void totals_count_outage(struct totals_node *node, const json_t *event)
{
	uint64_t now = message_get_number(event, "time_usec", 0);
	size_t to = text_index_of(message_get_text(event, "to"), history_outages);

	if (to >= N_OUTAGES)
		return;
	node->outage_usec[node->outage] = totals_outage_usec(node, node->outage, now);
	node->outage = (unsigned)to;
	node->outage_since_usec = now;
	node->outages[to]++;
}

static void totals_count_alert(struct totals_node *node, const json_t *event)
{
	size_t alert = text_index_of(message_get_text(event, "to"), alert_names);

	if (alert < N_ALERTS)
		node->alerts[alert]++;
}

void totals_take(struct totals *totals, const json_t *events)
{
	static const struct {
		const char *kind;
		void (*count)(struct totals_node *node, const json_t *event);
	} kinds[] = {
		{ "service", totals_count_event },
		{ "outage", totals_count_outage },
		{ "alert", totals_count_alert },
	};
	json_t *event;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)events, i, event) {
		const char *kind = message_get_text(event, "kind");

		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
			struct totals_node *node =
				strcmp(kind, kinds[k].kind) == 0
					? totals_make(totals, message_get_text(event, "node"))
					: NULL;

			if (node)
				kinds[k].count(node, event);
		}
	}
}
