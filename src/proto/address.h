#pragma once

/*
 * Where the control socket is: @given if not NULL, else $SWANSONG_SOCKET if it is set and not
 * empty, else control.sock in address_directory().  *ret is to be released by free().
 *
 * Return: 0 or -ENOMEM.
 */
int address_find(const char *given, char **ret);

/*
 * The directory of the sockets, which need not be there: /run/swansong for root, else
 * $XDG_RUNTIME_DIR/swansong, or /tmp/swansong-UID without $XDG_RUNTIME_DIR.  *ret is to be released
 * by free().  Return: 0 or -ENOMEM.
 */
int address_directory(char **ret);

/*
 * Makes @directory if it is missing.  Every user can write to /tmp: what is there has to be a
 * directory of this user, with mode 0700.  Return: 0; -EPERM if it is not; -errno.
 */
int address_make_directory(const char *directory);

/* Checks likewise the directory of the socket @path, if that is the one in /tmp.  Return: likewise. */
int address_check(const char *path);
