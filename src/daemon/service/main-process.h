#pragma once

/*
 * Which process is the service's main one, and which are the service's at all.
 *
 * The main process may name another one to be it from then on (MAINPID=): a server that replaces
 * itself without a gap does.  The one before stays known as a leftover.
 */

#include "daemon/service/object.h"
#include "sys/ipc/unixsock.h"

/*
 * Returns true if @pid, which may be dead but not collected, is provably a process of the service,
 * so that its messages count.  With a control group: it is in there.  Without one: we started it;
 * or it is in the session of one that is proven, or a descendant of one, and has the uid that the
 * service is started with, or that its main process has by now.  Its environment proves nothing:
 * any process can have any.
 */
bool service_has_member(const struct service *service, pid_t pid, uid_t uid);

/*
 * Makes @pid its main process, if that is alive, and a process of the service as above; or, where
 * there are no control groups, an orphan of such a uid and of no other service, as a daemon is that
 * has left its session and its parent.  If it is not our child (yet), its end is seen all the same,
 * but not its exit status.
 *
 * Return: 0, or -errno with the reason in *why: then nothing has changed.
 */
int service_follow(struct service *service, pid_t pid, const char **why);

/* The main process is gone, or there is none any more. */
void service_unfollow(struct service *service);
