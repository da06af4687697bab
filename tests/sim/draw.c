/*
 * A configuration is drawn from sections in a fixed order; an edge leads to a node before it, so there
 * is no cycle.  The second configuration of a history is the first one with some lines changed.
 */
#include "tests/sim/history.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

/* Groups come after their members here, and before them in the file. */
static const struct {
	const char *path;
	bool is_group;
} nodes[] = {
	{ "k/a", false },   { "k/b", false }, { "k", true },	{ "g/h/a", false },
	{ "g/h/b", false }, { "g/h", true },  { "g/a", false }, { "g/b", false },
	{ "g/c", false },   { "g", true },    { "a", false },	{ "b", false },
	{ "w@1", false },   { "w@2", false }, { "c", false },
};
/* The first place of a node that lies in the group at each place; of the node itself else. */
static const unsigned char first_in[] = { 0, 1, 0, 3, 4, 3, 6, 7, 8, 3, 10, 11, 12, 13, 14 };

#define NODES ARRAY_SIZE(nodes)

struct draw {
	uint64_t random;
	struct history *history;
	bool deaths;
	unsigned nodes;	 /* bits: those that have a section */
	unsigned edited; /* percent of lines that are drawn anew */
	bool scales;	 /* there is a template of which the number of instances changes */
	uint64_t stable; /* the state of the random numbers that do not change with an edit */
};

static unsigned below(struct draw *d, unsigned n)
{
	d->random = d->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(d->random >> 33) % n;
}

static const char *any(struct draw *d, const char *const *words, size_t n)
{
	return words[below(d, (unsigned)n)];
}
#define ANY(d, ...)                                  \
	any(d, (const char *const[]){ __VA_ARGS__ }, \
	    sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/* --- configurations --- */

/* A line of one key in so many sections. */
static void draw_key(struct draw *d, unsigned one_in, const char *key, const char *value)
{
	if (below(d, one_in) == 0)
		history_add(d->history, "%s = %s", key, value);
}

static bool is_possible_edge(const struct draw *d, unsigned from, unsigned to)
{
	/* All of the target lies before all of the source. */
	return to < first_in[from] && (d->nodes & (1u << to));
}

static void draw_edges(struct draw *d, unsigned i)
{
	static const char *const kinds[] = { "requires", "wants", "after", "term-after",
					     "binds-to" };

	for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		unsigned to = below(d, NODES);

		if (below(d, kind == 0 ? 2 : kind == 4 ? 6 : 4) != 0 || !is_possible_edge(d, i, to))
			continue;
		if (strncmp(nodes[to].path, "w@", 2) == 0 && below(d, 2))
			history_add(d->history, "%s = w@", kinds[kind]);
		else
			history_add(d->history, "%s = %s", kinds[kind], nodes[to].path);
	}
}

static void draw_program(struct draw *d, const char *first, bool oneshot, bool notify)
{
	char text[160];
	size_t n = (size_t)snprintf(text, sizeof(text), "%s", first);
	const struct {
		unsigned one_in;
		const char *word;
	} words[] = {
		{ oneshot ? 1 : 6, ANY(d, " runs=0", " runs=5", " runs=200", " runs=3000") },
		{ 4, ANY(d, " exits=1", " exits=1", " exits=0") },
		{ 4, ANY(d, " crashes=1", " crashes=3") },
		{ notify ? 1 : 20, ANY(d, " ready=0", " ready=10", " ready=500") },
		{ 4, ANY(d, " ends=1", " ends=100", " ends=2000", " ends=20000") },
		{ oneshot ? 1 : 1u << 30, " works" },
		{ 10, " deaf" },
		{ 5, " graceful" },
		{ 6, ANY(d, " forks=1", " forks=3") },
		{ 8, ANY(d, " lasts=1", " lasts=5000") },
		{ 8, " leaver" },
		{ 10, ANY(d, " starts=1", " starts=300") },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (below(d, words[i].one_in) == 0)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", words[i].word);
	history_add(d->history, "command = %s", text);
}

static const char *draw_hook(struct draw *d)
{
	return ANY(d, "hook", "hook", "hook runs=20", "hook runs=2000", "hook exits=1",
		   "hook deaf runs=60000");
}

/* A daemon of the traditional kind; it may write its pid file late, or never. */
static void draw_forking(struct draw *d, unsigned i)
{
	const char *slash = strrchr(nodes[i].path, '/');
	char file[64];

	(void)snprintf(file, sizeof(file), "%s", nodes[i].path);
	for (char *p = file; slash && (p = strchr(p, '/'));)
		*p = ':';
	draw_program(d,
		     ANY(d, "main daemon=0 file=0", "main daemon=20 file=5",
			 "main daemon=0 file=2000", "main daemon=500"),
		     false, false);
	history_add(d->history, "type = forking");
	history_add(d->history, "pid-file = /run/%s.pid", file);
}

/* Returns true for a service that hands over. */
static bool draw_kind(struct draw *d, unsigned i, bool oneshot)
{
	bool forking = !oneshot && below(d, 10) == 0;
	bool notify = !oneshot && !forking && below(d, 5) == 0;

	if (forking) {
		draw_forking(d, i);
		return false;
	}
	draw_program(d, "main", oneshot, notify);
	if (oneshot)
		draw_key(d, 3, "schedule",
			 ANY(d, "10min", "1h", "hourly", "daily", "*:0/15", "Mon 08:30"));
	if (oneshot)
		history_add(d->history, "type = oneshot");
	if (notify)
		history_add(d->history, "ready = notify");
	if (oneshot || below(d, notify ? 2 : 5) != 0)
		return false;
	history_add(d->history, "listen = tcp:127.0.0.1:%u", 8000 + i);
	history_add(d->history, "handover = yes");
	draw_key(d, 3, "handover-max", ANY(d, "1", "2"));
	return true;
}

/* Else services could start each other without end. */
static void draw_chain(struct draw *d, unsigned i, const char *key)
{
	unsigned to = below(d, NODES);

	if (is_possible_edge(d, i, to))
		draw_key(d, 3, key, nodes[to].path);
}

static bool draw_service(struct draw *d, unsigned i)
{
	bool oneshot = below(d, 7) == 0;
	bool hands_over = draw_kind(d, i, oneshot);

	draw_key(d, 3, "autostart", "no");
	draw_key(d, 2, "restart",
		 oneshot ? ANY(d, "on-failure", "never") : ANY(d, "always", "on-failure", "never"));
	draw_key(d, 6, "restart-delay", ANY(d, "1ms", "1s"));
	draw_key(d, 8, "restart-jitter", ANY(d, "0%", "50%", "100%"));
	draw_key(d, 6, "restart-limit", ANY(d, "1/1s", "2/10s", "none"));
	draw_key(d, 8, "on-failed", ANY(d, "nothing", "shutdown-parent"));
	draw_key(d, 4, "stop-timeout", ANY(d, "1ms", "200ms", "3s"));
	draw_key(d, 6, "stop-priority", ANY(d, "-1", "1", "2"));
	draw_key(d, 8, "start-timeout", ANY(d, "100ms", "2s"));
	draw_key(d, 10, "drain-delay", ANY(d, "50ms", "2s"));
	draw_key(d, 12, "drain-timeout", ANY(d, "1s", "1min"));
	draw_key(d, 14, "start-command", draw_hook(d));
	draw_key(d, 14, "post-start", draw_hook(d));
	draw_key(d, 14, "stop-command", draw_hook(d));
	draw_key(d, 14, "post-stop", draw_hook(d));
	draw_key(d, 8, "condition", ANY(d, "path:/", "exec:hook exits=1"));
	draw_chain(d, i, "on-success-start");
	draw_chain(d, i, "on-failure-start");
	draw_key(d, 6, "runtime-directory", "a b");
	draw_key(d, 6, "state-directory", "a");
	draw_key(d, 6, "credential", "a:/report");
	draw_key(d, 12, "nice", ANY(d, "3", "5"));
	draw_key(d, 12, "cgroup-pids-max", ANY(d, "50", "60"));
	draw_key(d, hands_over ? 1u << 30 : 16, "kill-leftovers", "no");
	return hands_over;
}

static void draw_group(struct draw *d)
{
	draw_key(d, 2, "strategy", ANY(d, "one-for-one", "one-for-all", "rest-for-one"));
	draw_key(d, 4, "start-parallel", ANY(d, "1", "1", "2"));
	draw_key(d, 4, "pressure-stop", ANY(d, "20% over 2s", "50% over 10s"));
}

static void draw_section(struct draw *d, unsigned i)
{
	bool hands_over = false;

	history_add(d->history, "[%s]", nodes[i].path);
	if (nodes[i].is_group)
		draw_group(d);
	else
		hands_over = draw_service(d, i);
	draw_key(d, 10, "shutdown-timeout", ANY(d, "100ms", "5s", "20s"));
	draw_key(d, hands_over ? 1u << 30 : 12, "final",
		 ANY(d, "final", "final runs=500", "final deaf runs=60000"));
	draw_key(d, 4, "on-sleep", ANY(d, "stop", "nothing"));
	draw_key(d, 8, "inhibit", ANY(d, "shutdown", "sleep:block"));
	draw_edges(d, i);
}

/* Each section has a random number of its own, so an edit changes some sections only. */
static void draw_config(struct draw *d, const char *name, unsigned edited)
{
	uint64_t base = d->stable;
	unsigned order = below(d, 2);

	history_add(d->history, "config %s", name);
	history_add(d->history, "[swansong]");
	history_add(d->history, "log = null");
	history_add(d->history, "report = %s", below(d, 4) ? "none" : "/report");
	history_add(d->history, "history = none");
	history_add(d->history, "state = %s", below(d, 2) ? "none" : "/state");
	if (d->scales) {
		history_add(d->history, "[v@]");
		history_add(d->history, "command = main");
		history_add(d->history, "instances = %u", 1 + below(d, 3));
		draw_key(d, 3, "recycle-age", "5min");
		draw_key(d, 3, "recycle-memory", "100M");
	}
	history_add(d->history, "[w@]");
	for (unsigned k = 0; k < NODES; k++) {
		unsigned i = order ? k : (unsigned)NODES - 1 - k;
		uint64_t saved = d->random;
		bool drawn_anew = below(d, 100) < edited;

		if (!(d->nodes & (1u << i)))
			continue;
		saved = d->random;
		d->random = base + i * 7919 + (drawn_anew ? saved : 0);
		(void)below(d, 2);
		draw_section(d, i);
		d->random = saved;
	}
}

/* --- operations --- */

static const char *draw_path(struct draw *d)
{
	return nodes[below(d, NODES)].path;
}

static void draw_fault(struct draw *d, const char *pause)
{
	const char *kind = ANY(d, "spawn 11", "spawn 12", "spawn 24", "exec 2", "exec 13",
			       "open 24", "kill 1", "open 23", "group 28", "enter 16", "watch 28",
			       "accept 24", "write 28", "send 11", "send 32", "read 4", "read 5",
			       "read 104", "socket 24", "poll 12", "poll 28", "timer 12",
			       "timer 24", "list 1", "memory 12", "memory 12", "memory 12");
	unsigned n = 1 + below(d, 3);

	history_add(d->history, "%sfault %s %u %u", pause, kind, n,
		    strncmp(kind, "memory", 6) == 0 ? below(d, 60) : below(d, 3));
}

static void draw_operation(struct draw *d, const char *pause)
{
	struct history *h = d->history;

	if (d->deaths && below(d, 8) == 0) {
		history_add(h, "%sdie", pause);
		return;
	}
	if (d->deaths && below(d, 8) == 0) {
		history_add(h, "%sdie %u", pause, 1 + below(d, 40));
		return;
	}
	if (below(d, 30) == 0) {
		history_add(h, "%sshortage %s", pause, ANY(d, "2000", "15000", "100000"));
		return;
	}
	if (below(d, 30) == 0) {
		history_add(h, "%ssleep %u", pause, below(d, 4));
		return;
	}
	if (d->scales && below(d, 8) == 0) {
		history_add(h, "%sscale v@ %u", pause, below(d, 6));
		return;
	}
	switch (below(d, 30)) {
	case 0:
	case 1:
	case 2:
		history_add(h, "%sstart %s", pause, below(d, 12) ? draw_path(d) : "/");
		break;
	case 3:
	case 4:
	case 5:
		history_add(h, "%sstop %s", pause, draw_path(d));
		break;
	case 6:
	case 7:
	case 29:
		history_add(h, "%srestart %s", pause, draw_path(d));
		break;
	case 8:
		history_add(h, "%sreload %s", pause, ANY(d, "a", "b", "c"));
		break;
	case 9:
		history_add(h, "%s%s %s", pause, ANY(d, "hangup-signal", "reload"),
			    ANY(d, "a", "b", "c"));
		break;
	case 10:
		if (below(d, 4) == 0) {
			history_add(h, "%srehearse %s %s", pause, draw_path(d), draw_path(d));
			break;
		}
		history_add(h, "%srollout %s %s%s%s", pause, ANY(d, "a", "b", "c"),
			    below(d, 6) ? draw_path(d) : "/", ANY(d, "", " or-undo"),
			    ANY(d, "", "", " pause"));
		break;
	case 11:
		if (below(d, 3) == 0)
			history_add(h, "%sunconfirmed-reload %s %s", pause, ANY(d, "a", "b", "c"),
				    ANY(d, "1", "1000", "20000"));
		else
			history_add(h, "%s%s", pause, ANY(d, "undo", "continue", "confirm"));
		break;
	case 12:
	case 13:
	case 14:
		history_add(h, "%scrash %s%s", pause, draw_path(d), ANY(d, "", "", " 9", " 11"));
		break;
	case 15:
		history_add(h, "%sexit %s", pause, draw_path(d));
		break;
	case 16:
		history_add(h, "%sguard %u %s%s", pause, below(d, 4), draw_path(d),
			    ANY(d, "", " late"));
		break;
	case 17:
		history_add(h, "%srelease %u", pause, below(d, 4));
		break;
	case 18:
		history_add(h, "%sleave %u", pause, below(d, 4));
		break;
	case 19:
		history_add(h, "%ssignal %s %s", pause, draw_path(d),
			    ANY(d, "USR1", "STOP", "CONT"));
		break;
	case 20:
		history_add(h, "%slook %s", pause, below(d, 3) ? draw_path(d) : "/");
		break;
	case 21:
		history_add(h, "%swait %s %s", pause, draw_path(d),
			    ANY(d, "ready", "complete", "running", "stopping"));
		break;
	case 22:
		history_add(h, "%sshutdown %s%s", pause, draw_path(d),
			    ANY(d, "", "", " force", " within 300", " within 5000"));
		break;
	case 28:
		if (below(d, 4) == 0) {
			history_add(h, "%sshutdown /", pause);
			history_add(h,
				    "%s"
				    "hold %s",
				    pause, ANY(d, "true", "true", "false"));
			history_add(h, "%sextend / 3000", pause);
		} else {
			history_add(h, "%sextend %s %s", pause, below(d, 3) ? draw_path(d) : "/",
				    ANY(d, "100", "5000"));
		}
		break;
	case 23:
		draw_fault(d, pause);
		break;
	case 25:
		history_add(h, "%s%s %s", pause, ANY(d, "enable", "disable"), draw_path(d));
		break;
	case 26:
		history_add(h, "%sclock %s", pause,
			    ANY(d, "1", "-1", "3600", "-3600", "90000", "-90000"));
		break;
	case 24:
		history_add(h, "%sleave-all", pause);
		break;
	default:
		history_add(
			h, "%snotify %s %s", pause, draw_path(d),
			ANY(d, "READY=1", "STATUS=x", "STOPPING=1", "EXTEND_TIMEOUT_USEC=3000000"));
		break;
	}
}

void history_draw(struct history *history, uint64_t seed, unsigned operations)
{
	struct draw d = { .random = seed * UINT64_C(0x9e3779b97f4a7c15),
			  .history = history,
			  .deaths = seed % 16 == 0 };
	unsigned size;

	history_init(history, seed);
	(void)below(&d, 2);
	size = 2 + below(&d, 9); /* of ten sections of which one is missing */
	for (unsigned i = 0; i < NODES; i++)
		if (below(&d, 11) < size)
			d.nodes |= 1u << i;
	d.nodes |= 1u << 10;
	d.stable = d.random;
	d.scales = below(&d, 4) == 0;
	if (below(&d, 2))
		history_add(history, "with groups");
	draw_config(&d, "a", 0);
	draw_config(&d, "b", 20);
	draw_config(&d, "c", 50);
	history_add(history, "operations");
	if (below(&d, 6) == 0)
		history_add(history, "%s %s", ANY(&d, "back", "unconfirmed"),
			    ANY(&d, "a b", "a c", "b a", "a a", "b b"));
	/* Many starts without any operation: what runs then depends on the configuration alone. */
	if (below(&d, 4) == 0)
		operations = 0;
	for (unsigned i = 0; i < operations; i++)
		draw_operation(&d, ANY(&d, "", "", "", "+1 ", "+1 ", "+20 ", "+150 ", "+1000 ",
				       "+5000 ", "+40000 "));
}
