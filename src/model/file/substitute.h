#pragma once

/*
 * %n (the node's path), %i (its instance: what follows the first @ of the last part) and %% in
 * values.
 */

/* The first '%' of @text that begins none of the three, or NULL. */
const char *substitute_check(const char *text);

/* @text must have passed substitute_check().  Return: 0 or -ENOMEM. */
int substitute_text(const char *text, const char *path, char **ret);

/*
 * The same for each of @words, which ends with NULL.  *ret is one allocation, free() releases it
 * all.
 *
 * Return: 0 or -ENOMEM.
 */
int substitute_words(char *const *words, const char *path, char ***ret);

/* Replaces the text, or the words, in their allocation.  Return: 0 or -ENOMEM. */
int substitute_text_of(char **text, const char *path);
int substitute_words_of(char ***words, const char *path);
