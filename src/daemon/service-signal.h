#pragma once

/* What the processes of a service are sent: the stop signal, SIGKILL, and what is passed on. */

#include "daemon/service.h"

/* Sends @signo to what it runs, as it is.  For forwarding. */
void service_forward(struct service *service, int signo);

/*
 * Is somebody of the main process's group there?  Its number stays the group's as long as it has
 * members.  Later it may be anybody's pid, and his group's: then a process has it again, and the
 * main process, which was collected, is it not.
 */
bool service_has_group(const struct service *service);

/* Is any process of it there, its commands included? */
bool service_has_any(const struct service *service);

/* The stop signal, then SIGCONT, to whatever of it has not had it. */
void service_term(struct service *service);

/* SIGKILL to the group and all leftovers. */
void service_kill(struct service *service);

/* The stop did not do: what is about to be killed is named, and the nodes remember. */
void service_forced(struct service *service);

enum signal_scope {
	SIGNAL_MAIN,  /* the main process */
	SIGNAL_GROUP, /* its process group */
	SIGNAL_ALL,   /* that and every leftover that is known */
};

/* Sends @signo, which an operator asks for, whatever it may do to the service. */
void service_send(struct service *service, int signo, enum signal_scope scope);
