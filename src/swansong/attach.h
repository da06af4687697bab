#ifndef SWANSONG_ATTACH_H
#define SWANSONG_ATTACH_H

/*
 * A program whose root is a child of its service's node in swansongd(8).
 *
 * A stop of the service, or of a node above it, then stops the root.  The daemon shows the guards
 * of the program, waits for them, and can report where they were taken.  A service has this if its
 * configuration has "attach = yes".
 */

#include <swansong/declare.h>
#include <swansong/node.h>

SWANSONG_BEGIN_DECLARATIONS

/**
 * swansong_attach() - create the root of a program that may run below a daemon
 * @ret:	the node, with one reference, the caller's
 *
 * Creates a root as swansong_new() does.  If the environment has $SWANSONG_ATTACH, the root is also
 * attached to the node of the service, from now until its last reference is dropped and it is
 * complete.  A stop by the daemon has the effect of swansong_shut_down().  It may come before this
 * function returns; later it comes on a thread of the library, which has all signals blocked, and
 * which may run callbacks of completions.  If the daemon ends, nothing happens.
 *
 * One process of a service can be attached at a time.  A process that it forks has a copy of the
 * tree, as of any tree, and is not attached; a program that it executes knows nothing of the tree.
 *
 * A program calls this once, early: it removes the variable from the environment, in every case,
 * and no other thread may use the environment meanwhile.
 *
 * Return: 1 if the root is attached; 0 if there is no daemon, and it is an ordinary root; -EBUSY if
 * another process of the service is attached; -EPROTO or -EBADF if the variable, or a descriptor
 * that it names, was not made by the daemon; -ENOMEM, or another -errno.
 */
int swansong_attach(struct swansong **ret);

SWANSONG_END_DECLARATIONS

#endif
