#pragma once

/*
 * The main process of a service, and its membership in general.
 *
 * A service may name another main process (MAINPID=), as servers do that replace themselves without
 * a gap.  The former one stays known as a remaining process.
 */

#include "daemon/service/object.h"

/*
 * Returns true if @pid, which may be dead but not collected, is provably a process of the service;
 * only then its messages count.  With a control group, @pid must be in it.  Without one, the daemon
 * has started @pid; or it is in the session of a proven process or descends from one, and has a uid
 * of the service, see user_is_own().  The environment proves nothing, as a process can set it freely.
 */
bool service_has_member(const struct service *service, pid_t pid, uid_t uid);

/*
 * Makes @pid the main process, if it is alive and a process of the service as above.  Without
 * control groups an orphan with such a uid is accepted, too, if it belongs to no other service: a
 * daemon that has left its session and its parent.  If @pid is no child of the daemon (yet), its
 * end is noticed, but its exit status is not known.
 *
 * Return: 0, or -errno with the reason in *why and nothing has changed.
 */
int service_set_main(struct service *service, pid_t pid, const char **why);

/*
 * Makes @pid, which an earlier image or daemon has left of @service, the main process of a
 * run that EVENT_FOUND begins.  @service is down.  @child: its parent and its group, if that is the parent of all
 * main processes; or NULL.  Return: 0 or -errno.
 */
int service_take_left(struct service *service, pid_t pid, const struct proc_info *child);

/*
 * Returns true if the start command of a forking service has ended with success, and the main
 * process that it left is not known yet.
 */
bool service_awaits_main(const struct service *service);

/*
 * Makes the process in the pid-file the main process of a service that awaits it, and else watches
 * the file.  The process must be one of the service as above, and must have begun in this run.
 *
 * Return: 0, or -errno with the reason in *why.
 */
int service_find_main(struct service *service, const char **why);

/* Ends the watch on a main process that is no child of the daemon. */
void service_unwatch_main(struct service *service);
