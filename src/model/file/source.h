#pragma once

/* The files that paths of a configuration stand for, read whole. */

#include <stdbool.h>
#include <stddef.h>

#include "model/base/diag.h"

#define SOURCE_SIZE_MAX (64 * 1024 * 1024) /* bytes of one file */

/*
 * Reads @path, or if it is a directory each *.ini in it (no hidden ones) in the order of the bytes
 * of their names, and calls @each with every file's text, which is followed by a NUL and may be
 * overwritten during the call.  A file that cannot be read, that every user may write to, or that
 * belongs to a user other than root and us, unless @trust, becomes an error in @diag and does not
 * stop the rest.
 *
 * Return: 0, -ENOMEM, or the first negative value of @each, after which nothing more is read.
 */
int source_each(const char *path, bool trust, struct diag *diag,
		int (*each)(void *arg, const char *file, char *text, size_t size), void *arg);

/*
 * The same for one regular file, of any user, which may be missing: that is for the caller to report.
 *
 * Return: 0, -ENOENT, -ENOMEM, or a negative value of @each.
 */
int source_one(const char *path, struct diag *diag,
	       int (*each)(void *arg, const char *file, char *text, size_t size), void *arg);
