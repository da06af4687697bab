/*
 * All kinds of reload begin with a plan: a request gets the changes as reply, a
 * signal has its result in the log, and reload_plan() only shows the plan.  The mistakes of a
 * configuration go to the log and to the client.
 */
#include "daemon/reload/reload.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memstream.h"
#include "daemon/loop/roster.h"
#include "daemon/reload/enable.h"
#include "daemon/tree/edges.h"
#include "model/keys/section.h"
#include "sys/spawn/ids.h"

struct listeners {
	struct log *log; /* may be NULL */
	FILE *mistakes;
};

static void reload_report_mistake(enum diag_level level, const char *text, void *arg)
{
	const struct listeners *l = arg;

	if (l->log)
		log_line(l->log, level == DIAG_ERROR ? LOG_ERR : LOG_WARNING, "%s", text);
	if (l->mistakes && level == DIAG_ERROR)
		(void)fprintf(l->mistakes, "\n%s", text);
}

static int reload_read(struct config **ret, const char *const *paths, size_t n_paths,
		       const struct config_names *names, struct listeners *listeners)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	int r = diag_new(&diag);

	if (r < 0)
		return r;
	r = config_load(ret, paths, n_paths, names, diag);
	diag_each(diag, reload_report_mistake, listeners);
	if (r == 0 && names->tape > 0 && fcntl(names->tape, F_ADD_SEALS, F_SEAL_WRITE) == 0)
		(*ret)->tape = names->tape;
	else if (names->tape > 0)
		(void)close(names->tape);
	return r;
}

int reload_config(struct config **ret, const char *const *paths, size_t n_paths, bool trust,
		  struct log *log, FILE *mistakes, struct roster *roster)
{
	struct listeners listeners = { .log = log, .mistakes = mistakes };
	struct config_names names = { ids_user, ids_group, trust,
				      roster_take_descriptor(roster, ROSTER_CONFIGURATION, NULL) };

	if (names.tape > 0 && lseek(names.tape, 0, SEEK_SET) == 0 &&
	    reload_read(ret, paths, n_paths, &names, &listeners) == 0) {
		log_line(log, LOG_NOTICE, "the configuration is the one from before");
		return 0;
	}
	names.tape = roster ? memfd_create("configuration", MFD_CLOEXEC | MFD_ALLOW_SEALING) : 0;
	return reload_read(ret, paths, n_paths, &names, &listeners);
}

/* A transient node that stays must not wait for nodes that would wait for it. */
static int reload_check_transients(const struct tree *tree, const struct config *config,
				   struct log *log, FILE *mistakes)
{
	struct listeners listeners = { .log = log, .mistakes = mistakes };
	cleanup(diag_freep) struct diag *diag = NULL;
	int r = diag_new(&diag);

	if (r < 0)
		return r;
	r = edges_check(tree, config, false, NULL, diag);
	diag_each(diag, reload_report_mistake, &listeners);
	return r == 0 && diag_errors(diag) > 0 ? -EINVAL : r;
}

static int reload_apply_plan(struct plan *plan)
{
	struct log *log = plan->tree->ctx->log;
	int r = plan_apply(plan);

	if (r < 0)
		return r;
	plan->tree->ctx->remarks++;
	plan->tree->ctx->configuration++;
	log_line(log, LOG_NOTICE, "reloaded: %u added, %u removed, %u changed",
		 plan->counts[PLAN_ADD], plan->counts[PLAN_REMOVE], plan->counts[PLAN_CHANGE]);
	for (enum key_id key = 0; key < N_KEYS; key++) {
		bool live = keys[key].apply == APPLY_LIVE;

		if (key_set_has(&plan->daemon, key))
			log_line(log, live ? LOG_INFO : LOG_WARNING, "%s has changed, effective %s",
				 keys[key].name, live ? "now" : "when the daemon restarts");
	}
	return 0;
}

int reload_apply(struct tree *tree, struct config *config)
{
	cleanup(plan_freep) struct plan *plan = NULL;
	int r = plan_new(&plan, tree, config, false);

	return r < 0 ? r : reload_apply_plan(plan);
}

/* Finds the configuration of the files, or the one before the last rollout. */
static int reload_find_config(const struct reload *reload, enum reload_mode mode, struct log *log,
			      FILE *reason, struct config **ret)
{
	if (mode != RELOAD_UNDO)
		return reload_config(ret, reload->paths, reload->n_paths, reload->trust, log,
				     reason, reload->tree->ctx->roster);
	if (!reload->tree->before) {
		(void)fputs("no rollout to undo: none has changed a service since the last reload",
			    reason);
		return -ENODATA;
	}
	*ret = config_ref(reload->tree->before);
	return 0;
}

/*
 * Finds the configuration and makes a plan.  Mistakes go to @reason, and to @log unless it is NULL.
 * On success the caller ends @reading.
 */
static int reload_make_plan(const struct reload *reload, enum reload_mode mode, struct log *log,
			    FILE *reason, struct enable_reading *reading, struct plan **ret)
{
	cleanup(config_unrefp) struct config *config = NULL;
	struct tree *tree = reload->tree;
	int r;

	if (reload->n_paths == 0) {
		(void)fputs("no configuration to reload: swansongd runs a command", reason);
		return -EOPNOTSUPP;
	}
	if (node_is_stopped(tree->root)) {
		(void)fputs("the tree is shutting down", reason);
		return -ESHUTDOWN;
	}
	r = reload_find_config(reload, mode, log, reason, &config);
	if (r == 0)
		r = reload_check_transients(tree, config, log, reason);
	if (r < 0)
		return r;
	enable_begin(reading, tree, config, log);
	r = plan_new(ret, tree, config, mode != RELOAD);
	if (r < 0)
		enable_cancel(reading, tree);
	return r;
}

/* --- the configuration before a rollout --- */

/* Returns true if the rollout that began with tree->before is not finished. */
static bool reload_has_unfinished(const struct tree *tree)
{
	for (const struct node *n = tree->root; tree->before && n; n = node_next(n, tree->root)) {
		const struct node_config *before = config_find(tree->before, n->config->path);
		const struct service *s = n->service;

		if (s && service_is_wanted(s) && before &&
		    node_config_needs_restart(before, n->config) &&
		    (!service_is_ready(s) || service_is_outdated(s)))
			return true;
	}
	return false;
}

/* Returns the tree->before of the time when @plan is applied; the caller gets a reference. */
static struct config *reload_next_before(const struct plan *plan, enum reload_mode mode)
{
	const struct tree *tree = plan->tree;
	struct config *before = tree->before;

	if (mode == RELOAD)
		before = NULL;
	else if (mode == RELOAD_BEGIN && plan->n_entries > 0 && !reload_has_unfinished(tree))
		before = tree->config;
	return before ? config_ref(before) : NULL;
}

/* Appends the text of error @r, unless its cause has written a text already. */
static void reload_complete_reason(FILE *reason, int r)
{
	if (r < 0 && r != -EINVAL && r != -EOPNOTSUPP && r != -ESHUTDOWN && r != -ENODATA)
		(void)fputs(strerror(-r), reason);
}

/* Prints the place in the file, like a mistake in it; the log names the socket. */
static void reload_print_place(FILE *reason, const struct node_config *node, enum key_id key)
{
	struct place place;

	if (!node || (key != KEY_LISTEN && key != KEY_AGENT))
		return;
	place = key_source_of(node, key).place;
	if (place.file)
		(void)fprintf(reason, "\n%s:%u: [%s] %s: ", place.file, place.line,
			      node_config_section(node), keys[key].name);
}

static int reload_plan_and_apply(const struct reload *reload, enum reload_mode mode, FILE *reason,
				 json_t **ret)
{
	cleanup(plan_freep) struct plan *plan = NULL;
	cleanup(config_unrefp) struct config *before = NULL;
	struct tree *tree = reload->tree;
	struct enable_reading reading;
	json_t *changes;
	int r = reload_make_plan(reload, mode, tree->ctx->log, reason, &reading, &plan);

	if (r < 0)
		return r;
	/* The plan describes changes to a state that is gone after it is applied. */
	changes = plan_json(plan);
	before = reload_next_before(plan, mode);
	r = reload_apply_plan(plan);
	if (r < 0) {
		enable_cancel(&reading, tree);
		if (r != -ENOMEM)
			reload_print_place(reason, plan->refused, tree->ctx->refused_key);
		json_decref(changes);
		return r;
	}
	enable_commit(&reading, tree);
	config_unref(tree->before);
	tree->before = take(before);
	*ret = changes;
	return 0;
}

int reload_plan(const struct reload *reload, enum reload_mode mode, FILE *reason, json_t **ret)
{
	cleanup(plan_freep) struct plan *plan = NULL;
	struct enable_reading reading;
	int r = reload_make_plan(reload, mode, NULL, reason, &reading, &plan);

	if (r == 0) {
		*ret = plan_json(plan);
		enable_cancel(&reading, reload->tree);
		r = *ret ? 0 : -ENOMEM;
	}
	reload_complete_reason(reason, r);
	return r;
}

int reload_run(const struct reload *reload, enum reload_mode mode, FILE *reason, json_t **ret)
{
	struct context *ctx = reload->tree->ctx;
	int r;

	parent_reloading(reload->parent);
	r = reload_plan_and_apply(reload, mode, reason, ret);
	reload_complete_reason(reason, r);
	if (r < 0)
		log_line(ctx->log, LOG_ERR, "the reload is refused: nothing has changed");
	parent_reloaded(reload->parent, r < 0 ? "Reload refused: nothing has changed" : "Reloaded");
	context_update_soon(ctx);
	return r;
}

void reload_by_signal(const struct reload *reload)
{
	struct log *log = reload->tree->ctx->log;
	cleanup(freep) char *reason = NULL;
	json_t *changes = NULL;
	struct memstream m;
	int r = memstream_open(&m);

	if (r < 0) {
		log_line(log, LOG_ERR, "the reload is refused: %s", strerror(-r));
		return;
	}
	r = reload_run(reload, RELOAD, m.file, &changes);
	(void)memstream_close(&m, &reason); /* without @reason the number shows the error */
	json_decref(changes);
	/* Mistakes with a place in a file are in the log already. */
	if (r < 0 && !(reason && *reason == '\n'))
		log_line(log, LOG_ERR, "%s", reason && *reason ? reason : strerror(-r));
}
