#include "exporter/text/health.h"

struct reasons {
	json_t *list;
};

/* @what may be NULL. */
static void reasons_add(struct reasons *reasons, const char *subject, const char *what)
{
	if (json_array_size(reasons->list) < HEALTH_REASONS)
		(void)json_array_append_new(
			reasons->list,
			json_sprintf("%s%s%s", subject, what ? ": " : "", what ? what : ""));
}

static json_t *reasons_end(struct reasons *reasons, bool *ret_ok)
{
	*ret_ok = json_array_size(reasons->list) == 0;
	if (!*ret_ok)
		return json_pack("{s:b, s:o}", "ok", 0, "reasons", reasons->list);
	json_decref(reasons->list);
	return json_pack("{s:b}", "ok", 1);
}

static struct reasons reasons_begin(bool up)
{
	struct reasons reasons = { .list = json_array() };

	if (!up)
		reasons_add(&reasons, "the daemon does not answer", NULL);
	return reasons;
}

json_t *health_live(bool up, bool *ret_ok)
{
	struct reasons reasons = reasons_begin(up);

	return reasons_end(&reasons, ret_ok);
}

static const char *reason_of(const struct node_view *view)
{
	if (node_view_is_healthy(view))
		return view->service.state;
	return view->service.ended ? "ended" : view->service.health;
}

json_t *health_ready(const struct copy *copy, bool up, bool *ret_ok)
{
	struct reasons reasons = reasons_begin(up);

	if (copy->n > 0 && copy->nodes[0].view.state != NODE_RUNNING)
		reasons_add(&reasons, "shutting down", NULL);
	for (size_t i = 0; i < copy->n; i++) {
		const struct node_view *view = &copy->nodes[i].view;

		if (view->is_service && !view->service.stopped && !node_view_is_well(view))
			reasons_add(&reasons, view->path, reason_of(view));
	}
	return reasons_end(&reasons, ret_ok);
}
