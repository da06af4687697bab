#pragma once

/*
 * The directory of the notification sockets: /run/swansong/notify.N of root, below XDG_RUNTIME_DIR
 * of another user.  Each daemon has one of its own, and holds a lock on it; a directory without the
 * lock was left by a daemon that was killed, and is taken over.
 */

#include <sys/types.h>

struct notify_directory;

/* Return: 0, or -errno if there is no place for one. */
int notify_directory_new(struct notify_directory **ret);

/* Removes it, with all sockets in it. */
struct notify_directory *notify_directory_free(struct notify_directory *directory);

/*
 * Binds a datagram socket that @owner and root can send to; (uid_t)-1, and always without root: the
 * user of the daemon.
 * *ret_path is allocated, for the caller to free.
 *
 * Return: the descriptor, non-blocking and CLOEXEC, or -errno.
 */
int notify_directory_bind(struct notify_directory *directory, uid_t owner, char **ret_path);
