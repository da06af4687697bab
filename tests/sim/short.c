/*
 * The tree is a list of units, a service or a group; edges lead to units before, so there is no cycle.  The order
 * and the ranks are computed here anew from the sections, not by the code of the daemon.
 */
#include "tests/sim/short.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/text.h"
#include "model/forecast/forecast.h"
#include "model/life/budget.h"
#include "tests/sim/client.h"

#define NOTES	       48
#define TOLERANCE_USEC (20 * USEC_PER_MSEC)

/* --- the tree --- */

struct drawn {
	struct history *history;
	uint64_t random;
	char paths[NOTES][16]; /* of the units before, and of the members of groups */
	size_t n;
};

static unsigned below(struct drawn *d, unsigned n)
{
	d->random = d->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(d->random >> 33) % n;
}

#define ANY(d, ...)                                   \
	((const char *const[]){ __VA_ARGS__ })[below( \
		d, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))]

static void draw_section(struct drawn *d, const char *path, bool is_group, size_t targets)
{
	static const char *const kinds[] = { "requires", "requires", "after", "wants" };
	unsigned first = below(d, ARRAY_SIZE(kinds));

	history_add(d->history, "[%s]", path);
	if (below(d, is_group ? 3 : 2) == 0)
		history_add(d->history, "stop-priority = %s", ANY(d, "-5", "0", "5", "10"));
	if (targets > 0 && below(d, 3) > 0)
		history_add(d->history, "%s = %s", kinds[first],
			    d->paths[below(d, (unsigned)targets)]);
	if (targets > 0 && first > 1 && below(d, 2) == 0)
		history_add(d->history, "requires = %s", d->paths[below(d, (unsigned)targets)]);
	/* The members of a group have its stop-timeout. */
	if (!strchr(path, '/'))
		history_add(d->history, "stop-timeout = %s",
			    ANY(d, "1s", "2s", "5s", "8s", "10s", "20s"));
	if (!is_group)
		history_add(d->history, "command = main%s",
			    ANY(d, " deaf", " deaf", " deaf", "", " ends=500", " ends=3000",
				" ends=20000"));
}

static void draw_unit(struct drawn *d, unsigned number)
{
	unsigned members = below(d, 3) == 0 ? 1 + below(d, 3) : 0;
	char path[16], group[12];
	size_t before = d->n;

	(void)snprintf(group, sizeof(group), "u%u", number);
	draw_section(d, group, members > 0, before);
	for (unsigned i = 0; i < members; i++) {
		(void)snprintf(path, sizeof(path), "%s/%u", group, i);
		draw_section(d, path, false, d->n);
		memcpy(d->paths[d->n++], path, sizeof(path));
	}
	(void)snprintf(d->paths[d->n++], sizeof(d->paths[0]), "%s", group);
}

void history_draw_short(struct history *history, uint64_t seed)
{
	struct drawn d = { .history = history, .random = seed * UINT64_C(0x9e3779b97f4a7c15) };
	unsigned units;

	history_init(history, seed);
	(void)below(&d, 2);
	units = 2 + below(&d, 9);
	if (below(&d, 2))
		history_add(history, "with groups");
	history_add(history, "config a");
	history_add(history, "[swansong]");
	history_add(history, "shutdown-timeout = infinity");
	for (unsigned i = 0; i < units; i++)
		draw_unit(&d, i);
	history_add(history, "operations");
	history_add(history, "+2000 short now");
}

/* --- what happens --- */

static struct note {
	char path[KERNEL_NODE];
	int rank;
	uint64_t timeout_usec;
	uint64_t asked_usec, killed_usec, gone_usec; /* 0: not yet */
	bool before[NOTES];			     /* it ends before the signal of those */
} notes[NOTES];
static size_t n_notes;
static uint64_t end_usec;

void short_init(void)
{
	n_notes = 0;
}

static bool is_edge(const struct note *from, const struct note *to, bool requires)
{
	const struct config *config = run_facts.tree->config;

	for (size_t i = 0; i < config->n_nodes; i++)
		for (enum edge edge = 0; edge < N_EDGES; edge++) {
			struct node_config **target = node_config_edges(config->nodes[i], edge);

			if ((requires && edge != EDGE_REQUIRES) || edge == EDGE_TERM_AFTER)
				continue;
			for (; target && *target; target++)
				if (text_is_within(from->path, config->nodes[i]->path) &&
				    text_is_within(to->path, (*target)->path))
					return true;
		}
	return false;
}

static void find_order(void)
{
	for (size_t i = 0; i < n_notes; i++)
		for (size_t k = 0; k < n_notes; k++)
			notes[i].before[k] = is_edge(&notes[i], &notes[k], false);
	for (size_t via = 0; via < n_notes; via++)
		for (size_t i = 0; i < n_notes; i++)
			for (size_t k = 0; k < n_notes; k++)
				notes[i].before[k] |= notes[i].before[via] && notes[via].before[k];
	/* As many times as a chain may be long. */
	for (size_t round = 0; round < n_notes; round++)
		for (size_t i = 0; i < n_notes; i++)
			for (size_t k = 0; k < n_notes; k++)
				if (is_edge(&notes[i], &notes[k], true))
					notes[k].rank = MAX(notes[k].rank, notes[i].rank);
}

void short_begin(void)
{
	const struct config *config = run_facts.tree->config;
	struct client *client = client_get();
	struct forecast_tree tree;
	struct forecast *f = NULL;
	char parameters[64];
	uint64_t grace_usec;

	for (size_t i = 0; i < config->n_nodes && n_notes < NOTES; i++) {
		if (!config->nodes[i]->argv)
			continue;
		notes[n_notes] =
			(struct note){ .rank = config->nodes[i]->stop_priority,
				       .timeout_usec = config->nodes[i]->stop_timeout_usec };
		(void)snprintf(notes[n_notes++].path, KERNEL_NODE, "%s", config->nodes[i]->path);
	}
	find_order();
	if (forecast_tree_init(&tree, config) < 0 || forecast_new(&f, &tree, 0) < 0 || !client)
		run_fail("short", "there is no forecast");
	grace_usec = f->end_usec[FORECAST_IDLE] / 2;
	forecast_free(f);
	forecast_tree_done(&tree);
	end_usec = kernel.now_usec + budget_of_grace(grace_usec);
	(void)snprintf(parameters, sizeof(parameters), "\"grace_usec\":%" PRIu64, grace_usec);
	client_call(client, "Shutdown", parameters, false);
}

static struct note *note_of(const struct row *row)
{
	for (size_t i = 0; i < n_notes; i++)
		if (row->program.role == ROLE_MAIN && row_is_of(row, notes[i].path))
			return &notes[i];
	return NULL;
}

void short_check_signal(const struct row *row, int signo)
{
	struct note *note = note_of(row);

	if (note && signo == SIGTERM && !note->asked_usec)
		note->asked_usec = kernel.now_usec;
	if (note && signo == SIGKILL && !note->killed_usec)
		note->killed_usec = kernel.now_usec;
}

void short_check_turn(void)
{
	bool alive[NOTES] = { false };

	for (size_t i = 0; n_notes > 0 && i < kernel.n_rows; i++) {
		const struct note *note =
			row_is_alive(&kernel.rows[i]) ? note_of(&kernel.rows[i]) : NULL;

		if (note)
			alive[note - notes] = true;
	}
	for (size_t i = 0; i < n_notes; i++)
		if (!alive[i] && !notes[i].gone_usec)
			notes[i].gone_usec = kernel.now_usec;
}

static uint64_t used_usec(const struct note *note)
{
	return note->asked_usec ? note->gone_usec - note->asked_usec : 0;
}

/* The time that all services after @note need, one after another, without those of a rank below @rank. */
static uint64_t needed_after(size_t note, int rank, uint64_t kill_usec)
{
	uint64_t needed[NOTES] = { 0 };
	bool longer = true;

	while (longer) {
		longer = false;
		for (size_t i = 0; i < n_notes; i++)
			for (size_t k = 0; k < n_notes; k++) {
				uint64_t own = notes[k].rank < rank ? 0 : notes[k].timeout_usec;

				if (!notes[i].before[k] || needed[i] >= needed[k] + own + kill_usec)
					continue;
				needed[i] = needed[k] + own + kill_usec;
				longer |= own + kill_usec > 0;
			}
	}
	return needed[note];
}

/* A service had time after its signal in which those of higher ranks that come afterwards cannot have theirs. */
static void check_used(size_t i)
{
	const struct note *note = &notes[i];
	uint64_t needed = needed_after(i, note->rank + 1, 0);

	if (needed > 0 && used_usec(note) > TOLERANCE_USEC &&
	    note->gone_usec + needed > end_usec + TOLERANCE_USEC)
		run_fail("priority",
			 "%s of rank %d has had %" PRIu64 " ms, and ends %" PRIu64
			 " ms before the end; services of higher ranks after it need %" PRIu64
			 " ms",
			 note->path, note->rank, used_usec(note) / USEC_PER_MSEC,
			 (end_usec - note->gone_usec) / USEC_PER_MSEC, needed / USEC_PER_MSEC);
}

/* A service is killed before its stop-timeout only for others of no lower rank, which have a second for a kill, too. */
static bool check_cut(size_t i)
{
	const struct note *note = &notes[i];

	if (!note->killed_usec || used_usec(note) + TOLERANCE_USEC >= note->timeout_usec)
		return false;
	if (note->gone_usec + needed_after(i, note->rank, USEC_PER_SEC) + TOLERANCE_USEC < end_usec)
		run_fail("priority",
			 "%s of rank %d is killed after %" PRIu64 " ms, %" PRIu64
			 " ms before the end",
			 note->path, note->rank, used_usec(note) / USEC_PER_MSEC,
			 (end_usec - note->gone_usec) / USEC_PER_MSEC);
	return true;
}

unsigned short_check_end(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < n_notes; i++) {
		if (notes[i].gone_usec > end_usec + TOLERANCE_USEC)
			run_fail("deadline", "%s has ended %" PRIu64 " ms after the time was over",
				 notes[i].path, (notes[i].gone_usec - end_usec) / USEC_PER_MSEC);
		check_used(i);
		n += check_cut(i);
	}
	return n;
}
