/*
 * The file is looked at by stat(2) at each request, so that no watch of it is needed.  Both tokens
 * that are compared fill an array of the same size.
 */
#include "exporter/http/token.h"

#include <strings.h>

#define WRONG_USEC (60 * USEC_PER_SEC) /* between two lines about wrong tokens */

/* Returns the reason why nothing in the file @st may be a token, or NULL. */
static const char *token_fault_of_file(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "not a regular file";
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "it belongs to another user: expected root or the user of the exporter";
	if (st->st_mode & (S_IWGRP | S_IRWXO))
		return "other users may read or change it: expected mode 0600 or 0640";
	return NULL;
}

/* The same for the text, which ends with a NUL before @size. */
static const char *token_fault_of_text(const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	if (n == size)
		return "the token is too long: expected at most 255 bytes";
	for (size_t i = 0; i < n; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return "the token has a space or a byte that is no letter: expected for "
			       "example the output of 'openssl rand -hex 32'";
	if (n < TOKEN_MIN)
		return "the token is too short: expected at least 16 bytes, for example the output "
		       "of 'openssl rand -hex 32'";
	return NULL;
}

/* Returns the reason why the token cannot be used, or NULL. */
static const char *token_read(struct token *token)
{
	cleanup(closep) int fd = open(token->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	const char *fault;
	ssize_t n;

	memset(token->text, 0, sizeof(token->text));
	token->st = (struct stat){ 0 };
	(void)stat(token->path, &token->st);
	if (fd < 0 || fstat(fd, &token->st) < 0)
		return strerror(errno);
	fault = token_fault_of_file(&token->st);
	if (fault)
		return fault;
	n = read(fd, token->text, sizeof(token->text));
	if (n < 0)
		return strerror(errno);
	while (n > 0 && token->text[n - 1] == '\n')
		token->text[--n] = '\0';
	/* A zero among the bytes would hide those after it. */
	if (strnlen(token->text, sizeof(token->text)) < (size_t)n)
		return "the token has a byte that is zero";
	return token_fault_of_text(token->text, sizeof(token->text));
}

void token_reload(struct token *token)
{
	const char *fault = token_read(token);

	token->usable = !fault;
	if (fault)
		log_line(token->log, LOG_ERR, "%s: no token for actions: %s", token->path, fault);
}

bool token_init(struct token *token, const char *path, struct log *log)
{
	*token = (struct token){ .path = path, .log = log };
	token_reload(token);
	return token->usable;
}

static bool token_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mode == b->st_mode && a->st_uid == b->st_uid &&
	       memcmp(&a->st_mtim, &b->st_mtim, sizeof(a->st_mtim)) == 0 &&
	       memcmp(&a->st_ctim, &b->st_ctim, sizeof(a->st_ctim)) == 0;
}

/* The number of lines is limited: a client that guesses does not fill the log. */
static void token_note_wrong(struct token *token, const char *client)
{
	uint64_t now = clock_now_usec();

	token->n_wrong++;
	if (now < token->next_line_usec)
		return;
	log_line(token->log, LOG_WARNING,
		 "%u actions with a wrong token were refused, the last one of %s", token->n_wrong,
		 client);
	token->n_wrong = 0;
	token->next_line_usec = now + WRONG_USEC;
}

bool token_allows(struct token *token, const char *authorization, const char *client)
{
	static const char scheme[] = "Bearer ";
	char given[TOKEN_MAX] = "";
	unsigned char differs = 0;
	struct stat st = { 0 };

	(void)stat(token->path, &st);
	if (!token_is_same_file(&st, &token->st))
		token_reload(token);
	if (!authorization)
		return false;
	if (strncasecmp(authorization, scheme, strlen(scheme)) == 0)
		memcpy(given, authorization + strlen(scheme),
		       strnlen(authorization + strlen(scheme), sizeof(given)));
	for (size_t i = 0; i < sizeof(given); i++)
		differs |= (unsigned char)(given[i] ^ token->text[i]);
	if (token->usable && !differs)
		return true;
	token_note_wrong(token, client);
	return false;
}

void token_done(struct token *token)
{
	explicit_bzero(token->text, sizeof(token->text));
}
