#pragma once

/* Reads the files of a configuration completely, by path or by directory. */

#include "model/base/diag.h"

#define SOURCE_SIZE_MAX (64 * 1024 * 1024) /* bytes of one file */

struct source {
	bool trust;
	int tape;
	struct diag *diag;
	int (*each)(void *arg, const char *file, char *text, size_t size);
	void *arg;
	/* Opens a file, without waiting, with the reason of a failure in *why, to be freed; NULL: open(2). */
	int (*open)(const char *path, char **why);
};

/*
 * Reads @path; if it is a directory, each *.ini in it except hidden ones, in the order of the bytes
 * of their names, and then those of its directory conf.d, if there is one.  Calls each() with the text of every
 * file, which is followed by a NUL and may be overwritten during the call.  A file that cannot be read or that
 * every user may write to is an error in diag, and so is, unless trust is set, a file that belongs to another user
 * than root and the caller. Reading continues after an error.
 *
 * The tape is a memory file, or 0: it gets all texts, and if it is sealed against writing it has those that are
 * read, from its offset on, instead of the files.
 *
 * Return: 0; -ENOMEM; the first negative value of each(), which ends the reading.
 */
int source_each(const struct source *source, const char *path);

/*
 * The same for the drop-ins of @file: the *.ini of the directory beside it that has its name, with
 * ".d" in place of ".ini".  Without that directory there are none.
 */
int source_each_dropin(const struct source *source, const char *file);

/* Returns true if the tape has what is read. */
bool source_is_played(int tape);

/* The same for words, which are names of files without text. */
int source_words(const struct source *source, char *const *words, size_t n);

/*
 * The same for a regular file.  The caller reports a missing file.
 *
 * Return: 0, -ENOENT, -ENOMEM, or a negative value of each().
 */
int source_one(const struct source *source, const char *path);
