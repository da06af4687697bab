#pragma once

/*
 * The options, once, as a table: parsing, help, completions and the manual's test read it.  An
 * option of some commands is refused with the others.
 */

#include <getopt.h>

#include "base/std.h"

/* The arguments of an option that may be repeated. */
struct option_words {
	const char *words[64];
	size_t n;
};

struct options {
	const char *socket;
	bool json, quiet, no_wait, help, version;
	uint64_t timeout_usec; /* USEC_INFINITY: none was given */
	bool force, late, using, blocking;
	const char *reason, *why;
	uint64_t settle_usec; /* start, restart, rollout */
	uint64_t parallel;    /* rollout */
	uint64_t min_ready;   /* rollout; UINT64_MAX: all */
	uint64_t ttl_usec;    /* USEC_INFINITY: none was given */
	int on_shutdown;      /* a signal; 0: none was given */
	const char *until;    /* NULL: none was given */
	bool dry_run, follow, wait, keep, trust, strict, all, reverse, once, now, undo, outdated;
	bool or_undo, continues;      /* rollout */
	uint64_t pause_after;	      /* rollout; UINT64_MAX: none was given */
	uint64_t confirm_usec, to;    /* reload; likewise */
	const char *format;	      /* check; NULL: none was given */
	const char *scope;	      /* NULL: none was given */
	const char *report, *history; /* likewise */
	bool raw, reopen;	      /* logs */
	uint64_t since_usec;	      /* logs, availability; CLOCK_REALTIME; 0: none was given */
	uint64_t until_usec;	      /* likewise; USEC_INFINITY */
	int level;		      /* logs */
	const char *grep;	      /* logs; NULL: none was given */
	bool from_history;	      /* plan */
	uint64_t lines;		      /* logs; UINT64_MAX: none was given */
	uint64_t last;		      /* events; UINT64_MAX: none was given */
	struct option_words properties;
	uint64_t grace_usec;	     /* plan, shutdown; UINT64_MAX: none was given */
	uint64_t within_usec;	     /* likewise */
	uint64_t extend_usec;	     /* shutdown; UINT64_MAX: none was given */
	bool hold, release;	     /* shutdown */
	struct option_words configs; /* advise, cat, plan, security, show */
};

struct option_row {
	const char *name;     /* without the dashes */
	char letter;	      /* 0: it has none */
	const char *argument; /* "PATH", or NULL */
	const char *verbs;    /* " shutdown stop ", or NULL for all */
	const char *help, *expected;
	int (*set)(const char *argument, void *value); /* 0, or -EINVAL or -ERANGE */
	size_t place;				       /* of the value in struct options */
};

size_t options_table(const struct option_row **ret);

#define OPTIONS_MAX 64

/* For getopt_long(3), which returns the keys; ends with an empty one. */
void options_getopt(struct option ret[static OPTIONS_MAX]);

void options_init(struct options *options);

/* The row with the key that getopt_long(3) has returned. */
const struct option_row *option_find(int key);

bool option_is_for(const struct option_row *row, const char *verb);
