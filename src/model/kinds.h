#pragma once

/*
 * The kinds of values as they are kept when everything is resolved: how two are compared, and how
 * one is shown, as a configuration would have it.  Nothing is shown for what is not set.
 */

#include <stdbool.h>
#include <stdio.h>

#include "model/choices.h"

struct kind {
	bool (*equal)(const void *a, const void *b);
	void (*print)(FILE *file, const void *value, const struct kind *kind);
	const struct choice *choices; /* of one that is one of a few */
};

extern const struct kind kind_duration;	      /* uint64_t of microseconds */
extern const struct kind kind_watchdog;	      /* likewise, 0 for none */
extern const struct kind kind_bool;	      /* bool */
extern const struct kind kind_exit_on_signal; /* bool */
extern const struct kind kind_signal;	      /* int */
extern const struct kind kind_mode;	      /* int or unsigned */
extern const struct kind kind_type;	      /* enum */
extern const struct kind kind_restart;
extern const struct kind kind_on_failed;
extern const struct kind kind_exit_when;
extern const struct kind kind_on_unhealthy;
extern const struct kind kind_strategy;
extern const struct kind kind_signal_scope;
extern const struct kind kind_bound;	     /* uint64_t, UINT64_MAX for infinity; 0: not set */
extern const struct kind kind_limit;	     /* struct restart_limit */
extern const struct kind kind_status;	     /* struct success_status */
extern const struct kind kind_text;	     /* char * */
extern const struct kind kind_words;	     /* char ** */
extern const struct kind kind_environment;   /* char **; only the names are shown */
extern const struct kind kind_nodes;	     /* struct node_config ** */
extern const struct kind kind_command;	     /* the whole struct node_config */
extern const struct kind kind_commands;	     /* struct commands */
extern const struct kind kind_listen;	     /* the whole struct extras */
extern const struct kind kind_user;	     /* struct credentials */
extern const struct kind kind_group;	     /* struct credentials */
extern const struct kind kind_groups;	     /* struct credentials */
extern const struct kind kind_rlimit;	     /* struct rlimit; an attribute, as the next five */
extern const struct kind kind_number;	     /* int */
extern const struct kind kind_flag;	     /* int */
extern const struct kind kind_io_class;	     /* int */
extern const struct kind kind_cpus;	     /* cpu_set_t */
extern const struct kind kind_capabilities;  /* uint64_t */
extern const struct kind kind_control_group; /* the whole struct config */
extern const struct kind kind_output;	     /* struct output */
extern const struct kind kind_probe;	     /* struct probe_config */
