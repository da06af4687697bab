#ifndef SWANSONG_ATTACH_H
#define SWANSONG_ATTACH_H

/*
 * A program whose root is a child of its service's node in swansongd(8).
 *
 * A stop of the service, or of anything above it, then stops the root; the daemon shows the guards
 * of the program, waits for them, and can say where they were taken.  A service has this if its
 * configuration says "attach = yes".
 */

#include <swansong/declare.h>
#include <swansong/node.h>

SWANSONG_BEGIN_DECLARATIONS

/**
 * swansong_attach() - create the root of a program that may run below a daemon
 * @ret:	the node, with one reference, the caller's
 *
 * It is a root as by swansong_new().  If the environment has $SWANSONG_ATTACH, it is attached to
 * the node of the service, too, from now until the last reference to it is dropped and it is
 * complete.  It is stopped by the daemon as it would be by swansong_shut_down(): perhaps before
 * this returns, else by a thread of the library, which has all signals blocked, and on which
 * callbacks of completions may run.  If the daemon ends, nothing happens.
 *
 * One process of a service can be attached at a time.  One that it forks has the tree as the
 * library leaves any tree to it, and is not attached; one that it executes knows nothing of it.
 *
 * To be called once, early: it takes the variable out of the environment, and nobody may use that
 * meanwhile.  Whatever it returns, the variable is gone.
 *
 * Return: 1 if it is attached; 0 if there is no daemon, and it is an ordinary root; or -EBUSY, if
 * another process of the service is attached; -EPROTO or -EBADF, if the variable or what it names
 * is not what the daemon has made; -ENOMEM, or another -errno.
 */
int swansong_attach(struct swansong **ret);

SWANSONG_END_DECLARATIONS

#endif
