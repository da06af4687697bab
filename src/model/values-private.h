#pragma once

/* What the readers of values share; for the values*.c only. */

#include <stddef.h>

#include "model/choices.h"
#include "model/values.h"

#define BOOL_ALLOWED "yes, no, true, false, on, off, 1 or 0"

/* Says @why.  Return: -EINVAL. */
int value_refuse(struct value *value, const char *why);

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

/*
 * From values.c: the number of the user, or group, that it names.  Return: 0, -EINVAL or -ENOMEM.
 */
int value_owner(struct value *value, uid_t *ret);
int value_group(struct value *value, gid_t *ret);

/* From values.c: permissions, an unsigned.  Return: 0 or -EINVAL. */
int value_mode(struct value *value, void *field);

/* From values.c: "127.0.0.1:80", "[::1]:80", "localhost:80".  Return: 0 or -EINVAL. */
int value_address(const char *text, union inet_address *ret);
