#pragma once

/*
 * The kinds of values that keys have: how each is read and, for people, what is allowed.  Numbers
 * of users and groups are found through the caller's functions; nothing else leaves this file.
 */

#include <stddef.h>

#include "model/section.h"

#define VALUE_REASON_MAX 128

struct value {
	const char *text;
	const struct config_names *names;
	const char *why; /* what is wrong, if there is more to say than that it cannot be used */
	char reason[VALUE_REASON_MAX]; /* room for that */
};

/* What the value of a key is kept in. */
enum value_base { IN_CONFIG, IN_NODE, IN_EXTRAS, IN_SECTION, IN_ATTRIBUTES };

struct value_type {
	/*
	 * Writes *field on success only; a whole config, node or section where the value fills more
	 * than one member.  Return: 0 or positive, -EINVAL (and perhaps @why), -ENOMEM.
	 */
	int (*parse)(struct value *value, void *field);
	const char *allowed;
};

extern const struct value_type type_socket;
extern const struct value_type type_control_group;
extern const struct value_type type_control_mode;
extern const struct value_type type_report;
extern const struct value_type type_instances;
extern const struct value_type type_duration;
extern const struct value_type type_nodes;
extern const struct value_type type_command;
extern const struct value_type type_type;
extern const struct value_type type_restart;
extern const struct value_type type_restart_limit;
extern const struct value_type type_success_status;
extern const struct value_type type_on_failed;
extern const struct value_type type_strategy;
extern const struct value_type type_fd_store_max;
extern const struct value_type type_watchdog;
extern const struct value_type type_signal;
extern const struct value_type type_signal_scope;
extern const struct value_type type_memory;
extern const struct value_type type_pids;
extern const struct value_type type_weight;
extern const struct value_type type_bool;
extern const struct value_type type_user;
extern const struct value_type type_group;
extern const struct value_type type_groups;
extern const struct value_type type_directory;
extern const struct value_type type_environment;
extern const struct value_type type_environment_files;
extern const struct value_type type_umask;
extern const struct value_type type_limit;
extern const struct value_type type_limit_size;
extern const struct value_type type_nice;
extern const struct value_type type_oom_score;
extern const struct value_type type_io_class;
extern const struct value_type type_cpus;
extern const struct value_type type_no_new_privileges;
extern const struct value_type type_capabilities;
extern const struct value_type type_input;
extern const struct value_type type_output;
