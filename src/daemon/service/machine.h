#pragma once

/*
 * The state machine of a service: carries out the transitions of model/life/fsm.h.  Tasks of the
 * update turn call it; callbacks post their events instead (service_post()).
 */

#include "daemon/service/object.h"

/*
 * Makes a service of @node with all memory that a start, an exit and a stop need.  @config is the
 * configuration of the node, or the one that a reload gives it.  Return: 0 or -errno.
 */
int service_new(struct service **ret, struct node *node, const struct node_config *config);
struct service *service_free(struct service *service);

/* Changes the state of @service by @event.  Nothing else changes it. */
void service_handle(struct service *service, enum service_event event);

/* Returns false for a damaged row: no service has written it. */
bool service_can_resume(const struct service *service, const struct roster_row *row);

/* Continues after a fault, by a row of service_update_roster(); a process of it was taken before. */
enum service_state service_resume(struct service *service, const struct roster_row *row);

/* TASK_EVENTS: handles posted events. */
void service_handle_posted(struct service *service);
