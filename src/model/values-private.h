#pragma once

/* What the kinds of values share: values.c has it, and the other values-*.c. */

#include "model/values.h"

#define BOOL_ALLOWED "yes, no, true, false, on, off, 1 or 0"

struct choice {
	const char *name;
	int value;
};

/* Which of @choices is @text?  Return: 0 or -EINVAL. */
int value_choice(const char *text, const struct choice *choices, size_t n, int *ret);

/* Return: -EINVAL, with @why for people. */
int value_refuse(struct value *value, const char *why);

/* Puts a copy of @text in the place of *field.  Return: 0 or -ENOMEM. */
int value_copy(const char *text, char **field);

/* The words of it, for free().  Return: how many, -EINVAL or -ENOMEM. */
int value_words(struct value *value, char ***field);

/* The number of the group that it names.  Return: 0, -EINVAL or -ENOMEM. */
int value_group(struct value *value, gid_t *ret);

/* Return: 0 or -EINVAL. */
int value_check_substitutions(struct value *value);
int value_check_path(struct value *value, const char *path);
