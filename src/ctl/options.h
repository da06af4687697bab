#pragma once

/*
 * The options, once, as a table: parsing, help, completions and the manual's test read it.  Those
 * that belong to some commands only are refused with the others.
 */

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_PROPERTIES_MAX 64
#define OPTIONS_CONFIGS_MAX    16

struct options {
	const char *socket;
	bool json, quiet, no_wait, help, version;
	uint64_t timeout_usec; /* USEC_INFINITY: none was given */
	bool force, late, blocking;
	const char *reason, *why;
	uint64_t ttl_usec; /* USEC_INFINITY: none was given */
	int on_shutdown;   /* a signal; 0: none was given */
	const char *until; /* NULL: none was given */
	bool dry_run, follow, wait, keep;
	const char *scope;  /* NULL: none was given */
	const char *report; /* likewise */
	unsigned lines;	    /* logs */
	uint64_t last;	    /* events; UINT64_MAX: none was given */
	const char *properties[OPTIONS_PROPERTIES_MAX];
	size_t n_properties;
	uint64_t grace_usec;			  /* plan; UINT64_MAX: none was given */
	const char *configs[OPTIONS_CONFIGS_MAX]; /* plan */
	size_t n_configs;
};

struct option_row {
	const char *name;     /* without the dashes */
	int key;	      /* the letter, if it has one, or 256 and up */
	const char *argument; /* "PATH", or NULL */
	const char *verbs;    /* " shutdown stop ", or NULL for all */
	const char *help;
};

size_t options_table(const struct option_row **ret);

#define OPTIONS_MAX 32

/* For getopt_long(3), whose flags are the keys; ends with an empty one. */
void options_getopt(struct option ret[static OPTIONS_MAX]);

void options_init(struct options *options);

/*
 * Sets what @key says.
 *
 * Return: 0, or -EINVAL or -ERANGE if @argument is not what this option takes.
 */
int options_set(struct options *options, int key, const char *argument);

/* Does the option belong to @verb? */
bool option_is_for(const struct option_row *row, const char *verb);
