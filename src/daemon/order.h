#pragma once

/*
 * The ordering edges at run time: who may start, and whose signal may go out.
 *
 * An edge A -> B (requires or after) holds back every service in A until B is ready (after: or is
 * not going to be), and every signal in B, once both are stopped, until A is Complete, and so is
 * every generation of A before.
 *
 * What a strategy restarts together starts when all of it has ended.
 */

#include <stdbool.h>

#include "daemon/node.h"
#include "daemon/service.h"

/* The first node that keeps @service from starting, or NULL. */
struct node *order_start_blocker(const struct service *service);

/* Is it to be started as soon as nothing keeps it from that? */
bool order_is_waiting(const struct service *service);

/* The first node that keeps the stop signal of @service back, or NULL. */
struct node *order_stop_blocker(const struct service *service);

/* The same for whatever may be in @node. */
struct node *order_gate(const struct node *node);

/*
 * Of those whose signal waits for what is in @node: the longest stop-timeout, as far as its budget
 * does not reach beyond that of @node anyway; 0 if there is nobody.
 */
uint64_t order_followers_timeout(const struct node *node);

/* A requirement, near or far, that has failed for good: then @service cannot start.  Or NULL. */
struct node *order_failed_requirement(const struct service *service);

/* @node or a service in it that is to run, but was stopped for good; or NULL. */
struct node *order_find_stopped(struct node *node);

/* Such a one in a requirement, near or far: @service is not started before that is.  Or NULL. */
struct node *order_stopped_requirement(const struct service *service);

/* Wants @service to run: started as soon as it may be. */
void order_want(struct service *service);

/*
 * The stop is latched: @service is not wanted any more, and is signalled as soon as it may be.  To
 * be called again when its node is to come back, or not to any more.
 */
void order_hold(struct service *service);

/* Sends the stop signals that nothing keeps back. */
void order_release(struct context *ctx);

/* Starts and signals what may be; to be called whenever something has changed. */
void order_pump(struct context *ctx);
