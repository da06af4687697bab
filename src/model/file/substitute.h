#pragma once

/*
 * Substitution in values: %n is the node's path, %i its instance (the text after the first @ of the
 * last part), and %% is %.
 */

/*
 * Replaces each %{NAME} by the variable of this process, and %{NAME:-default} by the default if it is not set or empty,
 * before a value is read at all.  *ret is NULL if there is none.  Return: 0; -EINVAL: no such form, or not set; -ENOMEM.
 */
int substitute_variables(const char *text, char **ret);

/* Returns the first invalid '%' of @text, or NULL. */
const char *substitute_check(const char *text);

/*
 * Substitutes in @text, which must have passed substitute_check(); with NULL, *ret stays.  Return: 0 or -ENOMEM.
 */
int substitute_text(const char *text, const char *path, char **ret);

/*
 * The same for each of @words, which is NULL-terminated.  *ret is one allocation, to be freed by
 * free().
 *
 * Return: 0 or -ENOMEM.
 */
int substitute_words(char *const *words, const char *path, char ***ret);

/* Substitutes in place: the old allocation is freed.  Return: 0 or -ENOMEM. */
int substitute_text_of(char **text, const char *path);
int substitute_words_of(char ***words, const char *path);
