#pragma once

/*
 * The state machine of a service: carries out what model/life/fsm.h answers.  It is called by the
 * tasks of the update turn; callbacks post their events instead (service_post()).
 */

#include "daemon/service/object.h"

/*
 * Allocates all that a start, an exit and a stop need.  @config is the node's, or is about to be.
 * Return: 0 or -errno.
 */
int service_new(struct service **ret, struct node *node, const struct node_config *config);
struct service *service_free(struct service *service);

/* The only way in which a service changes its state. */
void service_handle(struct service *service, enum service_event event);

/* TASK_EVENTS: handles what has been posted. */
void service_handle_posted(struct context *ctx);
