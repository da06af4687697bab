#pragma once

/*
 * The directory of the notification sockets: /run/swansong/notify.N for root, below XDG_RUNTIME_DIR
 * for other users.  Each daemon has its own and holds a lock on it.  A directory without a lock was
 * left by a killed daemon and is taken over.
 */

#include "base/std.h"

struct notify_directory;

/*
 * Makes or takes over a directory; after a fault with the sockets in it.  Return: 0, or -errno if there is
 * no place for one.
 */
int notify_directory_new(struct notify_directory **ret, bool after_fault);

/* Removes the directory with all sockets in it. */
struct notify_directory *notify_directory_free(struct notify_directory *directory);

/*
 * Binds a datagram socket of @owner; with mode 0600 it and root can send to it.  With (uid_t)-1, and always if the
 * daemon does not run as root, it is the user of the daemon.  The caller frees *ret_path.
 *
 * Return: the descriptor, non-blocking and CLOEXEC, or -errno.
 */
int notify_directory_bind(struct notify_directory *directory, uid_t owner, mode_t mode,
			  char **ret_path);
