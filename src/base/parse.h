#pragma once

/*
 * Strict parsers for text from outside.  The whole text must be the value: no leading or trailing
 * blanks, no sign, no "0x", no silent clamping.
 *
 * Return: 0 with *ret written; -EINVAL: no such value; -ERANGE: too large.  On error *ret is
 * unchanged.
 */

#include <stdbool.h>
#include <stdint.h>

/* Parses the number at the beginning of *text, and moves *text behind its digits. */
int parse_digits(const char **text, uint64_t *ret);

int parse_uint(const char *text, uint64_t max, uint64_t *ret);

/* Octal permission bits, at most 07777: "022", "0660". */
int parse_mode(const char *text, unsigned *ret);

/* yes no true false on off 1 0 */
int parse_bool(const char *text, bool *ret);

/* A number of bytes: "512", "64K", "10M", "2G", "1T"; a unit is a power of 1024. */
int parse_size(const char *text, uint64_t *ret);

/* "250ms", "30s", "5min", "1h", "1d", "infinity"; a unit is required, except for 0. */
int parse_duration(const char *text, uint64_t *ret_usec);

/* The exact duration, as parse_duration() reads it; clock_text() rounds.  Returns @buf. */
#define DURATION_TEXT_MAX 32
char *parse_duration_text(char buf[static DURATION_TEXT_MAX], uint64_t usec);

/*
 * A time of CLOCK_REALTIME: "10min", so long before @now_usec; "14:30[:05]", on the day of @now_usec;
 * "2026-03-01[ 14:30[:05]]"; also with T in place of the blank, and with a zone after the seconds, Z or +01:00.
 */
int parse_time(const char *text, uint64_t now_usec, uint64_t *ret_usec);

/* "SIGTERM", "TERM", "15", "SIGRTMIN+3", "RTMAX-1"; any signal from 1 to 64. */
int parse_signal(const char *text, int *ret);

/* "SIGTERM", "SIGRTMIN+3" or, for no signal, "signal 99".  Returns @buf. */
#define SIGNAL_TEXT_MAX 24
char *parse_signal_text(char buf[static SIGNAL_TEXT_MAX], int signo);

/*
 * Splits a command into words as a shell would, without a shell: blanks and newlines separate;
 * '...' is literal; in "..." a backslash escapes " \ $ ` and newline; elsewhere it escapes any
 * byte.
 * *ret is a NULL-terminated array in one allocation, to be freed by free().  An empty text has no
 * words.
 *
 * Return: the number of words, or -EINVAL (an open quote, a backslash at the end), -ENOMEM.
 */
int parse_words(const char *text, char ***ret);

/*
 * Unquotes all of @text as one word, blanks included, to @out, which needs room for as many bytes.
 *
 * Return: 0; -EINVAL: the content of @out is undefined.
 */
int parse_unquote(const char *text, char *out);
