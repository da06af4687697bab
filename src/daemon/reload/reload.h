#pragma once

/* Loads the configuration, at the start and by reloads. */

#include "daemon/demand/programs.h"
#include "daemon/describe/parent.h"
#include "daemon/reap/survivors.h"
#include "daemon/reload/enable.h"
#include "daemon/reload/plan.h"

struct roster;

/*
 * Reads the configuration from @paths; with @trust from files of any user.  Mistakes are lines for
 * @log and @mistakes, which may both be NULL.
 *
 * With @roster, which may be NULL, the configuration has its texts for the next image of the daemon; and
 * if the former image has left the texts of its own, these are read instead of the files.
 *
 * Templates have the numbers of instances of @scaled, which may be NULL.
 *
 * Return: 0; 1 if it is that of the former image; -EINVAL or -ENOMEM.
 */
int reload_config(struct config **ret, const char *const *paths, size_t n_paths, bool trust,
		  const struct disabled *scaled, struct log *log, FILE *mistakes,
		  struct roster *roster);

struct reload {
	struct tree *tree;
	struct parent *parent;
	const char *const *paths;
	size_t n_paths;	     /* 0: no configuration, in front of a command */
	bool trust;	     /* accepts files of any user */
	struct trial *trial; /* of a reload by a request; NULL: without one */
	struct programs *programs;
	struct upgrade *upgrade;
	struct enable_scaling scaling;
	struct rollout *rollout;
	struct changes *changes; /* NULL: former configurations are not kept */
	struct survivors *survivors;
};

/*
 * Reads the configuration of which @tape has the texts, which belongs to the caller.  Mistakes are lines for the
 * log and for @mistakes, which may be NULL.  Return: 0 or -errno.
 */
int reload_config_of_tape(struct config **ret, const struct reload *reload, int tape,
			  FILE *mistakes);

/* The way in which a configuration is applied. */
struct reload_how {
	struct config *config; /* NULL: by the files */
	bool rollout;	       /* restarts nothing: services that need it are outdated */
	const char *template;  /* NULL; else no other changes are made than of its instances */
	bool open;	       /* also while a rollout is open: it is a step of that */
	bool begins_rollout; /* the caller calls tree_enter_config() when the rollout is in the roster */
	bool dry_run; /* only computes the changes: neither the log nor the parent manager gets a report */
};

/*
 * Reloads the configuration and reports the result to the log and the parent manager.  Return: 0
 * with the changes in *ret; or -errno with the reason in @reason, and nothing has changed.
 *
 * A reload that restarts services ends the last rollout, which must not be open.
 */
int reload_run(const struct reload *reload, const struct reload_how *how, FILE *reason,
	       json_t **ret);

/* Like reload_run(), with the reason in the log. */
int reload_logged(const struct reload *reload, const struct reload_how *how);

/*
 * For enable_scale(); @arg is a struct reload.  Instances are added and removed, and no service is restarted. 
 * After that the last rollout cannot be undone, as its configuration from before has the former number.
 */
int reload_scale(void *arg, const char *template, FILE *reason);
