/*
 * For each struct there is a table of fields (proto/field.h), and from that macros make the
 * functions that build and parse.
 */
#include "proto/node-view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const node_view_states[] = {
	[NODE_RUNNING] = "running",
	[NODE_SHUTTING_DOWN] = "shutting_down",
	[NODE_COMPLETE] = "complete",
	NULL,
};

const char *const service_view_states[] = {
	"down",	     "preparing", "starting", "readying", "up",	       "draining",
	"waiting",   "asking",	  "stopping", "killing",  "closing",   "cleaning",
	"finishing", "backoff",	  "done",     "failed",	  "listening", NULL,
};

static const char *const health_states[] = { "unknown", "healthy", "unhealthy", NULL };

static const char *const agent_words[] = { "ready", "drain", "down", NULL };

static const char *const plan_kinds[] = { "service", "final", NULL };

const char *const guard_view_kinds[] = { "process", "action", "leftover", "program",
					 "lease",   "log",    NULL };

static const char *const output_streams[] = { "stdout", "stderr", NULL };

static const char *const output_kinds[] = { "inherit", "null",	 "file",   "journal",
					    "syslog",  "stdout", "stderr", NULL };

static const char *const output_stamps[] = { "none", "iso", "iso_usec", "unix", NULL };

static const struct field service_fields[] = {
	FIELD(service_view, FIELD_ENUM, state, .values = service_view_states),
	FIELD(service_view, FIELD_INT, since_usec),
	FIELD(service_view, FIELD_INT, pid, .optional = true),
	FIELD(service_view, FIELD_STRING, command),
	FIELD(service_view, FIELD_BOOL, ready),
	FIELD(service_view, FIELD_INT, restarts),
	FIELD(service_view, FIELD_STRING, result, .optional = true),
	FIELD(service_view, FIELD_STRING, status, .optional = true),
	FIELD(service_view, FIELD_STRINGS, waiting, .optional = true),
	FIELD(service_view, FIELD_INT, next_usec, .optional = true),
	FIELD(service_view, FIELD_INT, quiet_usec, .optional = true),
	FIELD(service_view, FIELD_INT, error, .optional = true),
	FIELD(service_view, FIELD_INT, reloading_usec, .optional = true),
	FIELD(service_view, FIELD_BOOL, ending, .optional = true),
	FIELD(service_view, FIELD_BOOL, ended, .optional = true),
	FIELD(service_view, FIELD_BOOL, stopped, .optional = true),
	FIELD(service_view, FIELD_BOOL, disabled, .optional = true),
	FIELD(service_view, FIELD_BOOL, outdated, .optional = true),
	FIELD(service_view, FIELD_INT, watchdog_usec, .optional = true),
	FIELD(service_view, FIELD_INT, stored, .optional = true),
	FIELD(service_view, FIELD_STRING, schedule, .optional = true),
	FIELD(service_view, FIELD_INT, scheduled_usec, .optional = true),
	FIELD(service_view, FIELD_INT, ran_usec, .optional = true),
	FIELD(service_view, FIELD_STRINGS, logs, .optional = true),
	FIELD(service_view, FIELD_INT, log_lines, .optional = true),
	FIELD(service_view, FIELD_INT, lost_lines, .optional = true),
	FIELD(service_view, FIELD_INT, lost_bytes, .optional = true),
	FIELD(service_view, FIELD_STRING, log_trouble, .optional = true),
	FIELD(service_view, FIELD_ENUM, health, .optional = true, .values = health_states),
	FIELD(service_view, FIELD_INT, health_since_usec, .optional = true),
	FIELD(service_view, FIELD_STRING, health_result, .optional = true),
};

static const struct field_table service_table = FIELD_TABLE(service_view, service_fields);

static const struct field node_fields[] = {
	FIELD(node_view, FIELD_STRING, path),
	FIELD(node_view, FIELD_INT, generation),
	FIELD(node_view, FIELD_CHOICE, state, .values = node_view_states),
	FIELD(node_view, FIELD_INT, since_usec),
	FIELD(node_view, FIELD_INT, guards),
	FIELD(node_view, FIELD_BOOL, ready),
	FIELD(node_view, FIELD_BOOL, forced),
	FIELD(node_view, FIELD_BOOL, restarting, .optional = true),
	FIELD(node_view, FIELD_INT, deadline_usec, .optional = true),
	FIELD(node_view, FIELD_ENUM, agent, .optional = true, .values = agent_words),
	FIELD(node_view, FIELD_STRUCT, service, .optional = true, .table = &service_table,
	      .present = offsetof(struct node_view, is_service)),
};

static const struct field guard_fields[] = {
	FIELD(guard_view, FIELD_INT, id),
	FIELD(guard_view, FIELD_STRING, node),
	FIELD(guard_view, FIELD_INT, generation),
	FIELD(guard_view, FIELD_ENUM, kind, .values = guard_view_kinds),
	FIELD(guard_view, FIELD_INT, pid, .optional = true),
	FIELD(guard_view, FIELD_INT, uid, .optional = true),
	FIELD(guard_view, FIELD_STRING, command, .optional = true),
	FIELD(guard_view, FIELD_STRING, why, .optional = true),
	FIELD(guard_view, FIELD_INT, age_usec),
	FIELD(guard_view, FIELD_INT, kill_usec, .optional = true),
	FIELD(guard_view, FIELD_INT, count, .optional = true),
	FIELD(guard_view, FIELD_INT, ttl_usec, .optional = true),
};

static const struct field plan_entry_fields[] = {
	FIELD(plan_entry_view, FIELD_STRING, node),
	FIELD(plan_entry_view, FIELD_ENUM, kind, .values = plan_kinds),
	FIELD(plan_entry_view, FIELD_INT, step),
	FIELD(plan_entry_view, FIELD_STRINGS, waits),
	FIELD(plan_entry_view, FIELD_INT, more_waits, .optional = true),
	FIELD(plan_entry_view, FIELD_BOOL, critical),
	FIELD(plan_entry_view, FIELD_INT, soonest_usec, .optional = true),
	FIELD(plan_entry_view, FIELD_INT, begin_usec, .optional = true),
	FIELD(plan_entry_view, FIELD_INT, end_usec, .optional = true),
	FIELD(plan_entry_view, FIELD_STRING, budget, .optional = true),
	FIELD(plan_entry_view, FIELD_INT, busy_begin_usec, .optional = true),
	FIELD(plan_entry_view, FIELD_INT, busy_end_usec, .optional = true),
	FIELD(plan_entry_view, FIELD_STRING, busy_budget, .optional = true),
};

static const struct field output_fields[] = {
	FIELD(output_view, FIELD_STRING, node),
	FIELD(output_view, FIELD_CHOICE, stream, .values = output_streams),
	FIELD(output_view, FIELD_ENUM, to, .values = output_kinds),
	FIELD(output_view, FIELD_BOOL, captured),
	FIELD(output_view, FIELD_STRING, file, .optional = true),
	FIELD(output_view, FIELD_CHOICE, timestamp, .values = output_stamps),
};

/* @view##_build() and @view##_parse_array() by the table of its fields. */
#define DEFINE_VIEW(view, fields)                                                             \
	_Static_assert(ARRAY_SIZE(fields) <= FIELDS_MAX, "they can be read");                 \
	static const struct field_table view##_table = FIELD_TABLE(view, fields);             \
                                                                                              \
	json_t *view##_build(const struct view *from)                                         \
	{                                                                                     \
		return field_write(&view##_table, from);                                      \
	}                                                                                     \
                                                                                              \
	int view##_parse_array(const json_t *parameters, const char *name, struct view **ret, \
			       size_t *ret_n)                                                 \
	{                                                                                     \
		return field_read_array(parameters, name, &view##_table, ret, ret_n);         \
	}

DEFINE_VIEW(node_view, node_fields)
DEFINE_VIEW(guard_view, guard_fields)
DEFINE_VIEW(plan_entry_view, plan_entry_fields)
DEFINE_VIEW(output_view, output_fields)
_Static_assert(ARRAY_SIZE(service_fields) <= FIELDS_MAX, "they can be read");

int node_view_parse(const json_t *object, struct node_view *ret)
{
	return field_read(object, &node_view_table, ret);
}

const char *node_view_state_name(enum node_view_state state)
{
	return node_view_states[state];
}

const char *service_view_state(const char *name)
{
	for (size_t i = 0; service_view_states[i]; i++)
		if (strcmp(service_view_states[i], name) == 0)
			return service_view_states[i];
	return NULL;
}

int node_view_state_find(const char *name, enum node_view_state *ret)
{
	for (size_t i = 0; node_view_states[i]; i++) {
		if (strcmp(node_view_states[i], name) != 0)
			continue;
		*ret = (enum node_view_state)i;
		return 0;
	}
	return -EINVAL;
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

	if (asprintf(&group, "node:%s", node->path) < 0)
		return NULL;
	for (char *c = group; *c; c++)
		if (*c == '/')
			*c = ':';
	return group;
}
