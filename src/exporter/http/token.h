#pragma once

/*
 * The token that allows actions, in a file that belongs to root or to the user of the exporter, and
 * that others can neither read nor write.  It is read again when the file is another one or has
 * changed.  While it cannot be used, nothing is allowed.
 */

#include "base/std.h"
#include "base/log.h"

#define TOKEN_MIN 16  /* bytes */
#define TOKEN_MAX 256 /* likewise, at most one less */

struct token {
	const char *path;
	struct log *log;
	struct stat st; /* of the file that was read last */
	bool usable;
	char text[TOKEN_MAX]; /* filled up with zeros */
	/* Wrong tokens since the last line of the log about them, and when the next may come. */
	unsigned n_wrong;
	uint64_t next_line_usec;
};

/*
 * Reads the token; a reason why it cannot be used is logged.  @path and @log must outlive the token.
 *
 * Return: false if it cannot be used.
 */
bool token_init(struct token *token, const char *path, struct log *log);

/* Reads it again, even if the file seems to be the same. */
void token_reload(struct token *token);

/*
 * Returns true if the value of the header Authorization, or NULL, is "Bearer TOKEN".  The time does not
 * depend on where a wrong token differs.  @client is for the log.
 */
bool token_allows(struct token *token, const char *authorization, const char *client);

void token_done(struct token *token);
