#pragma once

/*
 * The options of swansong-sandbox: --KEY=WORD for each word of a key of swansong.ini(5).
 * A daemon may run the program of the next release: an option keeps its name and its meaning.
 */

#include "base/std.h"

#define OPTION_WORDS_MAX 512

enum option {
	WRITE_PATHS,
	READ_PATHS,
	TCP_BIND,
	TCP_CONNECT,
	SYSTEM_CALLS,
	READ_ONLY_SYSTEM,
	HIDE_HOME,
	PRIVATE_TMP,
	PRIVATE_NETWORK,
	PRIVATE_DEVICES,
	PRIVATE_USERS,
	PROTECT,
	ADDRESS_FAMILIES,
	SANDBOX,
	DIRECTORY,    /* any: if that of the daemon is hidden, the service is in / */
	CAPABILITIES, /* to keep, as the number of a set */
	REPORT,	      /* the number of a pipe of the daemon */
	N_OPTIONS,
};

struct options {
	char *words[N_OPTIONS][OPTION_WORDS_MAX + 1]; /* NULL-terminated */
	char **variables; /* NAME=VALUE up to @argv, to be added to the environment */
	char **argv;
};

/* Reads options, NAME=VALUE..., --, and the command.  Returns NULL, or the word that cannot be used. */
const char *options_parse(struct options *options, char **argv);

/*
 * Adds the directories that the environment names, as systemd does, to write-paths if there are any, or if the
 * system is read-only.  Return: 0 or -ENOMEM.
 */
int options_add_directories(struct options *options);

static inline bool option_is_set(const struct options *o, enum option option)
{
	return o->words[option][0] != NULL;
}

static inline bool option_is(const struct options *o, enum option option, const char *word)
{
	return option_is_set(o, option) && strcmp(o->words[option][0], word) == 0;
}

/* Whether protect has @word, or all, and no later word takes it away again. */
bool option_protects(const struct options *o, const char *word);

/* The number of @option, or @otherwise. */
uint64_t option_number(const struct options *o, enum option option, uint64_t otherwise);
