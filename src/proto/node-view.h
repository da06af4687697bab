#pragma once

/*
 * The types of io.swansong as C structs.  The daemon fills them in and builds JSON; the client
 * reads and checks JSON.  Times are in microseconds.  Strings are borrowed: from the code that
 * fills in the struct, or from the JSON that was read.
 *
 * A missing optional number is FIELD_NONE, a missing string NULL.
 */

#include "proto/field.h"

struct service_view {
	const char *state; /* as fsm_state_name() */
	uint64_t since_usec;
	uint64_t pid; /* optional */
	const char *command;
	bool ready;
	uint64_t restarts;
	const char *result;				       /* optional */
	const char *status;				       /* optional */
	json_t *waiting;				       /* array of strings; NULL: empty */
	uint64_t next_usec;				       /* optional */
	uint64_t error, reloading_usec, watchdog_usec, stored; /* optional */
	uint64_t quiet_usec;				       /* optional */
	bool ending;	      /* the service has announced that it ends by itself */
	bool ended;	      /* it has ended by itself, and satisfies no requirement */
	bool stopped;	      /* by a request, or with a node that it requires and that was */
	bool disabled;	      /* it does not start by itself, by a request */
	bool outdated;	      /* it runs with settings before a change that needs a new process */
	const char *schedule; /* optional, as the next two */
	uint64_t scheduled_usec, ran_usec; /* until the next run, since the last one */
	json_t *logs;			   /* array of strings, the files; NULL: empty */
	uint64_t log_lines;		   /* optional: lines of output that were written */
	uint64_t lost_lines, lost_bytes;   /* optional: output that could not be written */
	const char *log_trouble; /* optional: the reason for which it is not written now */
	const char *health;	 /* optional, as health_state_name(); with the next two */
	uint64_t health_since_usec;
	const char *health_result; /* the failure of the last probe */
};

enum node_view_state { NODE_RUNNING, NODE_SHUTTING_DOWN, NODE_COMPLETE };

struct node_view {
	const char *path;
	uint64_t generation;
	enum node_view_state state;
	uint64_t since_usec;
	uint64_t guards;
	bool ready;
	bool forced;
	bool restarting;	/* stopped, and started again once it is complete */
	uint64_t deadline_usec; /* optional */
	const char *agent;	/* optional, as agent_word_name() */
	bool is_service;	/* @service is valid */
	struct service_view service;
};

struct guard_view {
	uint64_t id;
	const char *node;
	uint64_t generation;
	const char *kind; /* GUARD_KINDS of proto/interface/types.h */
	uint64_t pid;	  /* optional, as all below but the age */
	uint64_t uid;
	const char *command;
	const char *why;
	uint64_t age_usec;
	uint64_t kill_usec; /* optional: the remaining time until the kill or the revocation */
	uint64_t count;	    /* optional: more than one guard */
	uint64_t ttl_usec;  /* optional; of a lease only */
	bool kept;	    /* not sent: the guard holds only the root */
};

/* Unlimited times are FIELD_NONE, which is USEC_INFINITY. */
struct plan_entry_view {
	const char *node;
	const char *kind; /* "service", "final" */
	uint64_t step;
	json_t *waits;	     /* array of strings; NULL: empty */
	uint64_t more_waits; /* optional */
	bool critical;
	uint64_t soonest_usec;
	uint64_t begin_usec, end_usec;
	const char *budget; /* optional */
	uint64_t busy_begin_usec, busy_end_usec;
	const char *busy_budget; /* optional */
};

/* In the order of enum logger_kind, and of enum logger_stamp. */
struct output_view {
	const char *node;
	unsigned stream;  /* standard output, or both; standard error */
	const char *to;	  /* "inherit", "null", "file", "journal", "syslog", "stdout", "stderr" */
	bool captured;	  /* by the logger */
	const char *file; /* optional */
	unsigned timestamp;
};

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

/* Returns the name of the control group of the node, to be freed by free(); NULL: no memory. */
char *node_view_group(const struct node_view *node);

/* Returns true if the node is no service, or one that has not ended by itself and is healthy. */
bool node_view_is_healthy(const struct node_view *node);

/* Returns true if the node runs, is ready and healthy. */
bool node_view_is_well(const struct node_view *node);

/* The values of these members, NULL-terminated; those of nodes in the order of the enum. */
extern const char *const node_view_states[], *const service_view_states[],
						     *const guard_view_kinds[];

/* Returns the constant that is equal to @name, as in struct service_view; or NULL. */
const char *service_view_state(const char *name);

/* Return: 0, or -EINVAL if @name is no state of a node. */
int node_view_state_find(const char *name, enum node_view_state *ret);

/* "running", "shutting_down", "complete" */
const char *node_view_state_name(enum node_view_state state);
