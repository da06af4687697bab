#pragma once

/*
 * The behaviour of a program, which its command line names: "main ready=50 runs=1000 exits=1 deaf".
 * The first word is its role.  Times are milliseconds.  A program that is started when the world is
 * calm behaves: it does not end by itself, and ends when it is asked to.
 */

#include <stdbool.h>

enum role {
	ROLE_OTHER,
	ROLE_MAIN,  /* the command of a service */
	ROLE_HOOK,  /* a command around it */
	ROLE_FINAL, /* final of a node */
	ROLE_CHILD, /* a child of one of them */
};

#define PROGRAM_NEVER (-1)

struct program {
	enum role role;
	int starts;    /* time until the exec */
	int runs;      /* time until it ends by itself, or PROGRAM_NEVER */
	int exits;     /* its status then */
	int crashes;   /* so many runs end in this way; 0: all */
	int ready;     /* time until it sends READY=1, or PROGRAM_NEVER */
	int ends;      /* time from the stop signal to its end */
	int forks;     /* children that it makes when it is ready or has run for 1 ms */
	int lasts;     /* time for which a child lives, or PROGRAM_NEVER */
	int daemon;    /* time until it leaves a child behind and ends; PROGRAM_NEVER */
	int file;      /* time until that child writes its pid file, or PROGRAM_NEVER */
	bool deaf;     /* it ignores stop signals, and so do its children */
	bool graceful; /* a stop signal ends it with status 0 */
	bool works;    /* it ends by itself when it behaves, too, with status 0 */
	bool leaver;   /* its children begin sessions of their own */
};

/* Reads the words of @argv. */
void program_parse(struct program *program, char *const *argv);

/* Lets run number @run, made in a calm world or not, behave if it is to. */
void program_begin(struct program *program, unsigned run, bool calm);
