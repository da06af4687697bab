#pragma once

/*
 * Which process is the service's main one, and which are the service's at all.
 *
 * The main process may name another one to be it from then on (MAINPID=): a server that replaces
 * itself without a gap does.  The one before stays known as a leftover.
 */

#include "daemon/service.h"
#include "sys/unixsock.h"

/*
 * Is @pid, which may be dead but not collected, a process of it: known as one, in the session of
 * one, a descendant of one, or an orphan with its mark?
 */
bool service_has_member(struct service *service, pid_t pid);

/*
 * Makes @pid, if it is a process of the service's and alive, its main process.  If that is not our
 * child (yet), its end is seen all the same, but not its exit status.
 *
 * Return: 0, or -errno with the reason in *why: then nothing has changed.
 */
int service_follow(struct service *service, pid_t pid, const char **why);

/* The main process is gone, or there is none any more. */
void service_unfollow(struct service *service);
