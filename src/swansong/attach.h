#ifndef SWANSONG_ATTACH_H
#define SWANSONG_ATTACH_H

/*
 * A program that is stopped from outside: by a signal, or by swansongd(8), where the root of the
 * program is a child of its service's node.
 *
 * A stop of the service, or of a node above it, then stops the root.  The daemon shows the guards
 * of the program, waits for them, and can report where they were taken.  A service has this if its
 * configuration has "attach = yes".
 */

#include <swansong/declare.h>
#include <swansong/node.h>

SWANSONG_BEGIN_DECLARATIONS

/*
 * Creates the root of a program that may run below a daemon, as swansong_new() does.  If the
 * environment has $SWANSONG_ATTACH, the root is also attached to the node of the service, from now
 * until its last reference is dropped and it is complete.  A stop by the daemon has the effect of
 * swansong_shut_down().  It may come before this function returns; later it comes on a thread of
 * the library, which has all signals blocked, and which may run callbacks of completions.  If the
 * daemon ends, nothing happens.
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

/*
 * From now on the first signal @signo, for example SIGTERM, stops the node, of any kind, as
 * swansong_shut_down() does, on a thread of the library; so functions of interrupts and completions
 * run there, and not in a handler of a signal.  Later ones do nothing, also after the end of the
 * node.  The last reference to a root stops it as ever.  System calls that the signal interrupts go
 * on, where SA_RESTART has that effect.  In a forked process the signal has its default action.
 *
 * Return: 0; -EBUSY if the signal has a handler of the program, or stops another node that is not
 * complete; -EINVAL if it cannot be caught; -ENOMEM, or another -errno.
 */
int swansong_stop_on_signal(struct swansong *s, int signo);

SWANSONG_END_DECLARATIONS

#endif
