/*
 * Completion goes up the tree: the library reports a node whose last guard is released, and the
 * task runs its final action or records that the node is Complete.  The same task frees nodes and
 * services that no section asks for any more.
 */
#include "daemon/tree/completion.h"

#include "daemon/tree/build.h"

void completion_process(struct tree *tree, struct node *node)
{
	alert_update(node);
	final_update(node);
	if (!node->complete && swansong_completion_done(node->completion)) {
		char took[CLOCK_TEXT_MAX];
		int level =
			node->service && list_is_empty(&node->children) ? LOG_DEBUG : LOG_NOTICE;

		node->complete = true;
		node->since_usec = clock_now_usec();
		trace_complete(node->trace, node->forced, node->force.own_usec,
			       node->config->shutdown_timeout_usec, node->since_usec);
		node_changed(node, "shutting_down", node->forced ? "forced" : "");
		if (node->transient)
			node_finished(node);
		alarm_stop(&node->ctx->alarms, &node->budget);
		node_log(node, level, "complete in %s%s",
			 clock_text(took, node->since_usec - node->stop_usec),
			 node->forced ? " (forced)" : "");
	}
	if (node->service && !node->config->argv && !fsm_has_process(node->service->state))
		tree_remove_service(tree, node);
	if (node->complete)
		goals_complete(tree, node);
	tree_prune(tree, node);
}
