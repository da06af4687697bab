/*
 * A table of fields (proto/field.h) is made of each row of types.h that has a struct, and from that
 * macros make the functions that build and parse.
 */
#include "proto/node-view.h"

#define REQUIRED		   MUST
#define OPTIONAL		   MAY
#define REQUIRED_ENUM(name, ...)   MUST(ENUM, name, FIELD_VALUES(__VA_ARGS__))
#define OPTIONAL_ENUM(name, ...)   MAY(ENUM, name, FIELD_VALUES(__VA_ARGS__))
#define REQUIRED_CHOICE(name, ...) MUST(CHOICE, name, FIELD_VALUES(__VA_ARGS__))
#define PART(name, type, of_part, is_part) \
	MAY(STRUCT, name, .table = &of_part, .present = offsetof(struct node_view, is_part))

#define TYPE(...)
#define VIEW(view, type, help, ...) DEFINE_FIELD_TABLE(view, __VA_ARGS__)
#include "proto/interface/types.h"

const char *const node_view_states[] = { NODE_STATES, NULL };
const char *const service_view_states[] = { SERVICE_STATES, NULL };
const char *const guard_view_kinds[] = { GUARD_KINDS, NULL };

#define DEFINE_VIEW(view)                                                                     \
	DEFINE_FIELD_BUILD(view)                                                              \
                                                                                              \
	int view##_parse_array(const json_t *parameters, const char *name, struct view **ret, \
			       size_t *ret_n)                                                 \
	{                                                                                     \
		return field_read_array(parameters, name, &view##_table, ret, ret_n);         \
	}

DEFINE_VIEW(node_view)
DEFINE_VIEW(guard_view)
DEFINE_VIEW(plan_entry_view)
DEFINE_VIEW(output_view)

int node_view_parse(const json_t *object, struct node_view *ret)
{
	return field_read(object, &node_view_table, ret);
}

const char *node_view_state_name(const struct node_view *node)
{
	return node->is_service ? node->service.state : node_view_states[node->state];
}

int node_view_state_find(const char *name, enum node_view_state *ret)
{
	if (!text_is_one_of(name, node_view_states))
		return -EINVAL;
	*ret = (enum node_view_state)text_index_of(name, node_view_states);
	return 0;
}

bool node_view_is_healthy(const struct node_view *node)
{
	const char *health = node->service.health;

	if (!node->is_service)
		return true;
	return !node->service.ended && (!health || strcmp(health, "healthy") == 0);
}

bool node_view_is_well(const struct node_view *node)
{
	return node->state == NODE_RUNNING && node->ready && node_view_is_healthy(node);
}

char *node_view_group(const struct node_view *node)
{
	char *group;

	if (!node->is_service || node->service.pid > INT32_MAX)
		return NULL;
	group = text_format("node:%s", node->service.claim ? node->service.claim : node->path);
	for (char *c = group; c && *c; c++)
		if (*c == '/')
			*c = ':';
	return group;
}
