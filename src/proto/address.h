#pragma once

/*
 * Finds the path of the control socket: @given if not NULL, else $SWANSONG_SOCKET if it is set and
 * not empty, else control.sock in address_directory().  *ret is to be freed by free().
 *
 * Return: 0 or -ENOMEM.
 */
int address_find(const char *given, char **ret);

/*
 * The directory of the sockets, which need not exist: /run/swansong for root, else
 * $XDG_RUNTIME_DIR/swansong, or /tmp/swansong-UID without $XDG_RUNTIME_DIR.  *ret is to be freed by
 * free().  Return: 0 or -ENOMEM.
 */
int address_directory(char **ret);

/*
 * Creates @directory if it is missing.  Every user can write to /tmp: so an existing @directory
 * must belong to this user, with mode 0700.  Return: 0; -EPERM: it does not; -errno.
 */
int address_make_directory(const char *directory);

/*
 * Checks the directory of the socket @path likewise, if it is the one in /tmp.  Return: likewise.
 */
int address_check(const char *path);
