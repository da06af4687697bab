#pragma once

/*
 * The types of io.swansong as C structs, with the members of proto/interface/types.h.  The daemon
 * fills them in and builds JSON; the client reads and checks JSON.  Times are in microseconds.
 * Strings are borrowed: from the code that fills in the struct, or from the JSON that was read.
 *
 * A missing optional number is FIELD_NONE, which is USEC_INFINITY, and a missing string NULL.
 */

#include "proto/field.h"

enum node_view_state { NODE_RUNNING, NODE_SHUTTING_DOWN, NODE_COMPLETE };

/* The C types of the members of proto/interface/types.h; an array of strings is empty if it is NULL. */
#define VIEW_STRING		   const char *
#define VIEW_STRINGS		   json_t *
#define VIEW_INT		   uint64_t
#define VIEW_BOOL		   bool
#define VIEW_MEMBER(with, member)  member;
#define REQUIRED(kind, name)	   VIEW_##kind name
#define OPTIONAL(kind, name)	   VIEW_##kind name
#define REQUIRED_ENUM(name, ...)   const char *name
#define OPTIONAL_ENUM(name, ...)   const char *name
#define REQUIRED_CHOICE(name, ...) unsigned name /* the index of the word */
#define PART(name, type, table, is_part) \
	struct service_view name;        \
	bool is_part
#define TYPE(...)
#define VIEW(view, type, help, ...)                                            \
	struct view {                                                          \
		FOR_EACH(VIEW_MEMBER, , __VA_ARGS__)                           \
		bool kept; /* not sent: the guard holds only the root */ \
	};
#include "proto/interface/types.h"
#undef REQUIRED
#undef OPTIONAL
#undef REQUIRED_ENUM
#undef OPTIONAL_ENUM
#undef REQUIRED_CHOICE
#undef PART

/* New objects; NULL without memory. */
json_t *node_view_build(const struct node_view *node);
json_t *guard_view_build(const struct guard_view *guard);
json_t *plan_entry_view_build(const struct plan_entry_view *entry);
json_t *output_view_build(const struct output_view *output);

/* Reads @object.  Return: 0; -EBADMSG: it contradicts the interface. */
int node_view_parse(const json_t *object, struct node_view *ret);

/*
 * Reads the array that is member @name of @parameters; *ret is to be freed by free().
 *
 * Return: 0, -EBADMSG or -ENOMEM.
 */
int node_view_parse_array(const json_t *parameters, const char *name, struct node_view **ret,
			  size_t *ret_n);
int guard_view_parse_array(const json_t *parameters, const char *name, struct guard_view **ret,
			   size_t *ret_n);
int plan_entry_view_parse_array(const json_t *parameters, const char *name,
				struct plan_entry_view **ret, size_t *ret_n);
int output_view_parse_array(const json_t *parameters, const char *name, struct output_view **ret,
			    size_t *ret_n);

/*
 * Returns the name of the control group of the node, to be freed by free(); NULL: it is no service with
 * a process, or no memory.
 */
char *node_view_group(const struct node_view *node);

/* Returns true if the node is no service, or one that has not ended by itself and is healthy. */
bool node_view_is_healthy(const struct node_view *node);

/* Returns true if the node runs, is ready and healthy. */
bool node_view_is_well(const struct node_view *node);

/* The values of these members, NULL-terminated; those of nodes in the order of the enum. */
extern const char *const node_view_states[], *const service_view_states[],
						     *const guard_view_kinds[];

/* Return: 0, or -EINVAL if @name is no state of a node. */
int node_view_state_find(const char *name, enum node_view_state *ret);

/* Returns the state of the service; of a group "running", "shutting_down", or "complete". */
const char *node_view_state_name(const struct node_view *node);
