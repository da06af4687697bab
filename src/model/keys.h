#pragma once

/*
 * The keys of a configuration: one table, in the order of swansong.ini(5).  What a key's value
 * means by itself is decided in model/values.h; what it means beside others, in model/resolve.h.
 */

#include "model/diag.h"
#include "model/section.h"
#include "model/settings.h"
#include "model/values.h"

/* Where a key may stand. */
enum key_scope {
	SCOPE_ROOT,	 /* [swansong] only */
	SCOPE_TEMPLATE,	 /* a section whose name ends with '@' */
	SCOPE_NODE,	 /* every section */
	SCOPE_SERVICE,	 /* a section with a command */
	SCOPE_INHERITED, /* every section; counts for the services in and below it */
};

/* When a value that a reload has changed begins to count, for a service that runs. */
enum key_apply {
	APPLY_LIVE = 1,	  /* at once */
	APPLY_NEXT_START, /* when it is started again, by whatever */
	APPLY_RESTART,	  /* only in a new process: it is restarted for it */
	APPLY_DAEMON,	  /* when the daemon is started anew */
};

struct key {
	const char *name;
	enum key_scope scope;
	const struct value_type *type;
	enum value_base base;
	size_t offset;	  /* in that */
	const char *help; /* one line */
	enum key_apply apply;
};

extern const struct key keys[N_KEYS];

static inline struct place section_place(const struct section *section, enum key_id key)
{
	bool of_template = section->of_template[key / 64] >> key % 64 & 1;

	return (struct place){
		.file = of_template ? section->template_file : section->node->place.file,
		.line = section->lines[key],
	};
}

/* An error of @key in @section, in the one format there is. */
#define section_error(section, diag, key, format, ...)                                    \
	diag_add((diag), DIAG_ERROR, section_place((section), (key)), "[%s] %s: " format, \
		 node_config_section((section)->node), keys[(key)].name, ##__VA_ARGS__)

/* The key of RLIMIT_... @resource. */
const char *keys_limit_name(int resource);

/*
 * Reads "@name = @value" at @line into @section.  Mistakes go to @diag.
 *
 * Return: 0 or -ENOMEM.
 */
int keys_set(struct section *section, unsigned line, const char *name, const char *value,
	     const struct config_names *names, struct diag *diag);

/*
 * Likewise, for a template: at @line of section->template_file, and only what @section has not
 * said.
 */
int keys_set_default(struct section *section, unsigned line, const char *name, const char *value,
		     const struct config_names *names, struct diag *diag);
