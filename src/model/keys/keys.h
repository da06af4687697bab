#pragma once

/* The keys of a configuration, by the table in model/base/table.h. */

#include "model/base/key.h"
#include "model/types/type.h"

/* The sections that may have a key. */
enum key_scope {
	SCOPE_ROOT,	 /* [swansong] only */
	SCOPE_TEMPLATE,	 /* a section whose name ends with '@' */
	SCOPE_NODE,	 /* every section */
	SCOPE_SERVICE,	 /* a section with a command */
	SCOPE_INHERITED, /* every section; applies to the services in and below it */
};

/* When a changed value takes effect after a reload, for a running service. */
enum key_apply {
	APPLY_LIVE = 1,	  /* at once */
	APPLY_IN_PLACE,	  /* at once, to the running process */
	APPLY_NEXT_START, /* at its next start, for any reason */
	APPLY_RESTART,	  /* in a new process: the service is restarted */
	APPLY_DAEMON,	  /* at the next start of the daemon */
};

/* The structs of settings, beside the parts of a node (enum node_part). */
enum key_part { PART_NODE = N_PARTS, PART_CONFIG };

struct key {
	const char *name;
	enum key_scope scope;
	const struct type *type;
	unsigned part; /* the struct of the setting; and its offset */
	size_t offset;
	enum key_apply apply;
};

extern const struct key keys[N_KEYS];

/* Returns N_KEYS if there is no such key. */
enum key_id key_find(const char *name);

/* The setting of @key in @base, a struct config for SCOPE_ROOT, else a struct node_config. */
const void *key_field(const struct key *key, const void *base);

/* Copies the setting of @key to @node from @stated, of a section above.  Return: 0 or -ENOMEM. */
int key_inherit(const struct key *key, const struct node_config *stated, struct node_config *node);

/* The keys of an edge and of a command; the names of the keys of a command and of RLIMIT_... @resource. */
enum key_id key_of_edge(enum edge edge);
enum key_id key_of_hook(enum hook_kind kind);
const char *hook_name(enum hook_kind kind);
const char *keys_limit_name(int resource);
