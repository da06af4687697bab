#pragma once

/*
 * The types of values: how one is read, compared and shown, and which text is allowed for it.  A
 * type is one object with all of that.  Numbers of users and groups are found by functions of the
 * caller; a type does not look beyond its value otherwise.
 */

#include <stdio.h>

#include "model/base/settings.h"

#define VALUE_REASON_MAX 128

/* A value on its way from a text to its place. */
struct value {
	const char *text;
	const struct type *type;
	const struct config_names *names;
	const char *path; /* of the node, when the value is resolved */
	const char *why;  /* the reason of a refusal, if it says more than that the text is bad */
	char reason[VALUE_REASON_MAX]; /* room for that */
};

/* A name of a number. */
struct choice {
	const char *name; /* NULL: the end of the list */
	int value;
};

struct type {
	/* Writes *field on success only.  Return: 0 or more; -ENOMEM; else refused, perhaps @why. */
	int (*parse)(struct value *value, void *field);
	/* NULL: the bytes are compared. */
	bool (*equal)(const void *a, const void *b);
	/* As a configuration would have it; nothing if no value is set. */
	void (*print)(FILE *file, const void *field);
	/*
	 * Replaces *field by its meaning for the node value->path; or NULL.
	 * Return: as parse, where a refusal comes with @text and @why.
	 */
	int (*resolve)(struct value *value, void *field);
	/*
	 * Writes to *field the meaning of *from, of a section above, for the node @path; NULL: the
	 * bytes are copied.  Return: 0 or -ENOMEM.
	 */
	int (*inherit)(void *field, const void *from, const char *path);
	size_t size;		      /* of a field that is compared or inherited by its bytes */
	const char *expected;	      /* completes "expected ..." */
	const char *examples[2];      /* two different values, as they are shown */
	const struct choice *choices; /* without parse and print: of an enum that is one of these */
	int min, max;		      /* of a number */
};

/* The definition of one. */
#define TYPE(name, ...) const struct type type_##name = { __VA_ARGS__ }

/* plain.c */
extern const struct type type_bool, type_duration, type_interval, type_watchdog, type_signal;
extern const struct type type_mode, type_memory, type_pids, type_weight;
extern const struct type type_retries, type_fd_store_max, type_nice, type_oom_score;
extern const struct type type_type, type_restart, type_on_failed, type_strategy, type_exit_when;
extern const struct type type_log_keep, type_log_format, type_log_timestamp, type_log_full;
extern const struct type type_exit_on_signal, type_signal_scope, type_on_unhealthy;
extern const struct type type_restart_limit, type_success_status;
/* text.c */
extern const struct type type_socket, type_report, type_directory;
extern const struct type type_environment, type_files, type_names, type_input, type_output;
/* command.c */
extern const struct type type_command, type_commands; /* the key of the latter may be repeated */
extern const struct type type_nodes, type_instances;
/* user.c */
extern const struct type type_user, type_uid, type_group, type_gid, type_groups;
/* process.c */
extern const struct type type_limit, type_limit_size, type_io_class, type_cpus, type_capabilities;
/* probe.c */
extern const struct type type_ready, type_health;
/* schedule.c */
extern const struct type type_schedule;
/* listen.c */
extern const struct type type_listen;

/* Read, compare and show fields of a type. */
int type_parse(struct value *value, void *field);
bool type_equal(const struct type *type, const void *a, const void *b);
void type_print(const struct type *type, FILE *file, const void *field);

/* Sets @why.  Return: -EINVAL. */
int value_refuse(struct value *value, const char *why);

/* Return: 0, or -EINVAL if none is called @name. */
int choice_find(const struct choice *choices, const char *name, int *ret);

/* NULL if no choice has the value. */
const char *choice_name(const struct choice *choices, int value);

/* Replaces *field by a copy.  Return: 0 or -ENOMEM. */
int value_copy(const char *text, char **field);

/* In one block, NULL-terminated.  Return: how many, -EINVAL or -ENOMEM. */
int value_words(struct value *value, char ***field);

/* The same, with good substitutions. */
int value_substituted_words(struct value *value, char ***field);

/* A command, quoted as in a shell, with good substitutions.  Return: 0, -EINVAL or -ENOMEM. */
int value_argv(struct value *value, char ***ret);

/* Is each % one that is substituted?  Return: 0 or -EINVAL. */
int value_check_substitutions(struct value *value);

/* Is @path absolute, and not too long?  Return: 0 or -EINVAL. */
int value_check_path(struct value *value, const char *path);

/* The length of the NAME of NAME=VALUE, or of a NAME alone, or 0. */
size_t value_variable_name(const char *word);
size_t value_name(const char *word);
#define ENVIRONMENT_MAX 1000 /* variables in one section, or file */

/* Copies the bytes from @from to @to, and a NUL.  Return: does that fit into @room bytes? */
bool value_part(char *part, size_t room, const char *from, const char *to);

/* "127.0.0.1:80", "[::1]:80", "localhost:80".  Return: 0 or -EINVAL. */
int value_address(const char *text, union inet_address *ret);

/* For fields char * and char **, where an empty list is as none. */
bool value_equal_text(const void *a, const void *b);
bool value_equal_words(const void *a, const void *b);
void value_print_text(FILE *file, const void *field);
void value_print_words(FILE *file, const void *field);

/* @text with blanks for its newlines. */
void value_print_line(FILE *file, const char *text);

/* The number of the user, or group, that the value names.  Return: 0, -EINVAL or -ENOMEM. */
int value_owner(struct value *value, void *field);
int value_group(struct value *value, void *field);

/*
 * Makes the substitutions of @listen for the node @path, and reads its address.
 *
 * Return: 0; -EINVAL with the reason in *why; -ENOMEM.
 */
int listen_resolve(struct listen *listen, const char *path, const char **why);
