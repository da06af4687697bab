#pragma once

#include "base/std.h"

/*
 * Finds the path of the control socket: @given if not NULL, else $SWANSONG_SOCKET if it is set and
 * not empty, else control.sock in address_directory().  *ret is to be freed by free().
 *
 * Return: 0 or -ENOMEM.
 */
int address_find(const char *given, char **ret);

/*
 * Returns the socket of root's daemon, for a client of another user without a daemon of its own; NULL if a path
 * was given, or is the same.
 */
const char *address_of_root(const char *given);

/*
 * The directory of the sockets, which need not exist: /run/swansong for root, else
 * $XDG_RUNTIME_DIR/swansong, or /tmp/swansong-UID without $XDG_RUNTIME_DIR.  *ret is to be freed by
 * free().  Return: 0 or -ENOMEM.
 */
int address_directory(char **ret);

/* The mode with which a missing @directory is made: the one in /tmp is for its user alone. */
mode_t address_directory_mode(const char *directory);

/*
 * Every user can write to /tmp: so the directory of the socket @path, if it is the one there, must belong
 * to this user, with mode 0700.  Return: 0; -EPERM: it does not; -errno.
 */
int address_check(const char *path);
