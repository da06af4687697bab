#pragma once

/*
 * The types of values.  A type is an object with the functions that read, compare and show a value,
 * and with the words for an error.  Apart from users and groups, which the caller's functions find,
 * a type sees only its value.
 */

#include "model/base/settings.h"

#define VALUE_REASON_MAX 128

/* A value while it is read from its text. */
struct value {
	const char *text;
	const struct type *type;
	const struct config_names *names;
	const char *path;	       /* path of the node, when the value is resolved */
	const char *why;	       /* the reason of an error, if there is a special one */
	char reason[VALUE_REASON_MAX]; /* memory for a reason that is composed */
};

/* A word for a number. */
struct choice {
	const char *name; /* NULL: the end of the list */
	int value;
};

struct type {
	/*
	 * Writes *field only on success.  Return: 0 or more; -ENOMEM; -EINVAL, perhaps with @why.
	 */
	int (*parse)(struct value *value, void *field);
	/* Of each word of a list, or NULL; false is an error, perhaps with @why. */
	bool (*is_valid)(struct value *value, const char *word);
	/* NULL: the bytes are compared. */
	bool (*equal)(const void *a, const void *b);
	/* Prints the value as in a configuration; nothing if it is not set. */
	void (*print)(FILE *file, const void *field);
	/*
	 * Replaces *field by its meaning for the node value->path; may be NULL.
	 * Return: as parse; an error comes with @text and @why.
	 */
	int (*resolve)(struct value *value, void *field);
	/*
	 * Writes the meaning of *from, of a section above, for the node @path to *field.  NULL: the
	 * bytes are copied.  Return: 0 or -ENOMEM.
	 */
	int (*inherit)(void *field, const void *from, const char *path);
	size_t size;		      /* of a field that is compared or inherited as bytes */
	const char *expected;	      /* completes "expected ..." */
	const struct choice *choices; /* of an enum, if parse and print are NULL */
	int min, max;		      /* of a number; of a time, in milliseconds */
	const char *unit;	      /* behind a number; NULL: none */
};

/* The definition of one. */
#define TYPE(name, ...) const struct type type_##name = { __VA_ARGS__ }

/* The types of the keys. */
#define KEY(id, name, scope, of, place, reload, text) extern const struct type type_##of;
#include "model/base/table.h"

/* Read, compare and print fields of a type. */
int type_parse(struct value *value, void *field);
bool type_equal(const struct type *type, const void *a, const void *b);
void type_print(const struct type *type, FILE *file, const void *field);

/* Sets @why.  Return: -EINVAL. */
int value_refuse(struct value *value, const char *why);

/* Finds a choice by name.  Return: 0 or -EINVAL. */
int choice_find(const struct choice *choices, const char *name, int *ret);

/* Returns NULL if no choice has the value. */
const char *choice_name(const struct choice *choices, int value);

/* Replaces *field by a copy.  Return: 0 or -ENOMEM. */
int value_copy(const char *text, char **field);

/* Splits into words, NULL-terminated, in one block.  Return: their number; -EINVAL; -ENOMEM. */
int value_words(struct value *value, char ***field);

/* The same, and checks substitutions. */
int value_substituted_words(struct value *value, void *field);

/* The same for a command, which must have a program.  Return: 0, -EINVAL or -ENOMEM. */
int value_argv(struct value *value, char ***ret);

/* Checks that each % is one of %n, %i and %%.  Return: 0 or -EINVAL. */
int value_check_substitutions(struct value *value);

/* Checks that @path is absolute, and not too long.  Return: 0 or -EINVAL. */
int value_check_path(struct value *value, const char *path);

/* Returns the length of the NAME in NAME=VALUE, or of a NAME alone; 0 if there is none. */
size_t value_variable_name(const char *word);
size_t value_name(const char *word);
#define ENVIRONMENT_MAX 1000 /* variables in one section, or file */

/* Copies the bytes from @from to @to, and a NUL.  Returns false if they exceed @room bytes. */
bool value_part(char *part, size_t room, const char *from, const char *to);

/* "127.0.0.1:80", "[::1]:80", "localhost:80".  Return: 0 or -EINVAL. */
int value_address(const char *text, union inet_address *ret);

/* For fields char * and char **; an empty list equals NULL. */
bool value_equal_text(const void *a, const void *b);
bool value_equal_words(const void *a, const void *b);
void value_print_text(FILE *file, const void *field);
void value_print_words(FILE *file, const void *field);

/* Prints @text with blanks instead of newlines. */
void value_print_line(FILE *file, const char *text);

/*
 * Substitutes in @listen for the node @path, and reads the address.
 *
 * Return: 0; -EINVAL with the reason in *why; -ENOMEM.
 */
int listen_resolve(struct listen *listen, const char *path, const char **why);
