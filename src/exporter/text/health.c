/*
 * A check collects reasons for failure; it is ok if there are none.  The list is cut after
 * HEALTH_REASONS, so that a reply stays short in a large tree.
 */
#include "exporter/text/health.h"

/* @what may be NULL. */
static void health_add_reason(json_t *reasons, const char *subject, const char *what)
{
	if (json_array_size(reasons) < HEALTH_REASONS)
		(void)json_array_append_new(
			reasons,
			json_sprintf("%s%s%s", subject, what ? ": " : "", what ? what : ""));
}

static json_t *health_end_reasons(json_t *reasons, bool *ret_ok)
{
	*ret_ok = json_array_size(reasons) == 0;
	if (!*ret_ok)
		return json_pack("{s:b, s:o}", "ok", 0, "reasons", reasons);
	json_decref(reasons);
	return json_pack("{s:b}", "ok", 1);
}

static json_t *health_begin_reasons(bool up)
{
	json_t *reasons = json_array();

	if (!up)
		health_add_reason(reasons, "the daemon does not answer", NULL);
	return reasons;
}

json_t *health_live(bool up, bool *ret_ok)
{
	return health_end_reasons(health_begin_reasons(up), ret_ok);
}

json_t *health_ready(const struct copy *copy, bool up, bool *ret_ok)
{
	json_t *reasons = health_begin_reasons(up);

	if (copy->n > 0 && copy->nodes[0].view.state != NODE_RUNNING)
		health_add_reason(reasons, "shutting down", NULL);
	for (size_t i = 0; i < copy->n; i++) {
		const struct node_view *view = &copy->nodes[i].view;

		if (view->is_service && !view->service.stopped && !node_view_is_well(view))
			health_add_reason(reasons, view->path,
					  node_view_is_healthy(view) ? view->service.state
					  : view->service.ended	     ? "ended"
								     : view->service.health);
	}
	return health_end_reasons(reasons, ret_ok);
}
