#pragma once

/*
 * The options of swansong-sandbox: --KEY=WORD for each word of a key of swansong.ini(5).
 * A daemon may run the program of the next release: an option keeps its name and its meaning.
 */

#include "base/std.h"

#define OPTION_WORDS_MAX 512

/* The name of each, and the words of a choice but no, the default; those of protect: base/protections. */
#define OPTIONS(OPTION)                                                                                  \
	OPTION(WRITE_PATHS, "write-paths")                                                               \
	OPTION(READ_PATHS, "read-paths")                                                                 \
	OPTION(TCP_BIND, "tcp-bind")                                                                     \
	OPTION(TCP_CONNECT, "tcp-connect")                                                               \
	OPTION(SYSTEM_CALLS, "system-calls")                                                             \
	OPTION(READ_ONLY_SYSTEM, "read-only-system", "usr", "full", "yes")                               \
	OPTION(HIDE_HOME, "hide-home", "read-only", "yes")                                               \
	OPTION(PRIVATE_TMP, "private-tmp", "yes")                                                        \
	OPTION(PRIVATE_NETWORK, "private-network", "yes")                                                \
	OPTION(PRIVATE_DEVICES, "private-devices", "yes")                                                \
	OPTION(PRIVATE_USERS, "private-users", "yes")                                                    \
	OPTION(PROTECT, "protect")                                                                       \
	OPTION(ADDRESS_FAMILIES, "address-families")                                                     \
	OPTION(SANDBOX, "sandbox", "strict", "best-effort")                                              \
	OPTION(DIRECTORY, "directory", "stated", "any") /* any: if that of the daemon is hidden, in / */ \
	OPTION(CAPABILITIES, "capabilities") /* to keep, as the number of a set */                       \
	OPTION(PROGRAM, "program") /* the number of a descriptor of this program */                      \
	OPTION(REPORT, "report") /* the number of a pipe of the daemon */

enum option {
#define OPTION(option, ...) option,
	OPTIONS(OPTION)
#undef OPTION
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
