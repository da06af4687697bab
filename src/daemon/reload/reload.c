/*
 * All kinds of reload begin with a plan: a request gets the changes as reply, a
 * signal has its result in the log, and a dry run only shows the plan.  The mistakes of a
 * configuration go to the log and to the client.
 */
#include "daemon/reload/reload.h"

#include "daemon/reload/changes.h"
#include "daemon/reload/rollout.h"
#include "daemon/tree/build.h"
#include "daemon/tree/edges.h"
#include "model/keys/section.h"
#include "sys/file/refusal.h"
#include "sys/spawn/ids.h"

/* @tape belongs to *ret, or is closed. */
static int reload_read(struct config **ret, const char *const *paths, size_t n_paths, bool trust,
		       const struct disabled *scaled, struct log *log, FILE *mistakes, int tape)
{
	const struct config_names names = { ids_user,
					    ids_group,
					    ids_groups_of,
					    trust,
					    tape,
					    scaled ? scaled->names : NULL,
					    scaled ? scaled->n : 0,
					    refusal_open };
	cleanup(diag_freep) struct diag *diag = NULL;
	int r = diag_new(&diag);

	if (r < 0)
		return r;
	r = config_load(ret, paths, n_paths, &names, diag);
	diag_report(diag, log, mistakes);
	if (r == 0 && tape > 0 && fcntl(tape, F_ADD_SEALS, F_SEAL_WRITE) == 0)
		(*ret)->tape = tape;
	else if (tape > 0)
		(void)close(tape);
	return r;
}

int reload_config(struct config **ret, const char *const *paths, size_t n_paths, bool trust,
		  const struct disabled *scaled, struct log *log, FILE *mistakes,
		  struct roster *roster)
{
	int tape = roster_take_descriptor(roster, ROSTER_CONFIGURATION, NULL);

	if (tape > 0 && lseek(tape, 0, SEEK_SET) == 0 &&
	    reload_read(ret, paths, n_paths, trust, scaled, log, mistakes, tape) == 0) {
		log_line(log, LOG_NOTICE, "the configuration is the one from before");
		return 1;
	}
	tape = roster ? memfd_create("configuration", MFD_CLOEXEC | MFD_ALLOW_SEALING) : 0;
	return reload_read(ret, paths, n_paths, trust, scaled, log, mistakes, tape);
}

int reload_config_of_tape(struct config **ret, const struct reload *reload, int tape,
			  FILE *mistakes)
{
	int own = fcntl(tape, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (own < 0 || lseek(own, 0, SEEK_SET) < 0)
		return -errno;
	return reload_read(ret, reload->paths, reload->n_paths, reload->trust,
			   &reload->tree->ctx->disabled, reload->tree->ctx->log, mistakes, own);
}

/* Edges of a transient node that stays must make no cycle with @config. */
static int reload_check_transients(const struct tree *tree, const struct config *config,
				   struct log *log, FILE *mistakes)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	int r = diag_new(&diag);

	if (r < 0)
		return r;
	r = edges_check(tree, config, false, NULL, diag);
	diag_report(diag, log, mistakes);
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

static int reload_read_files(const struct reload *reload, struct log *log, FILE *reason,
			     struct config **ret)
{
	return reload_config(ret, reload->paths, reload->n_paths, reload->trust,
			     &reload->tree->ctx->disabled, log, reason, reload->tree->ctx->roster);
}

/*
 * Finds the configuration and makes a plan.  Mistakes go to @reason, and to @log unless it is NULL.
 * On success the caller ends @reading.
 */
static int reload_make_plan(const struct reload *reload, const struct reload_how *how,
			    struct log *log, FILE *reason, struct enable_reading *reading,
			    struct plan **ret)
{
	cleanup(config_unrefp) struct config *config = how->config ? config_ref(how->config) : NULL;
	struct tree *tree = reload->tree;
	bool scaled;
	int r = 0;

	if (reload->n_paths == 0) {
		(void)fputs("no configuration to reload: swansongd runs a command", reason);
		return -EOPNOTSUPP;
	}
	if (node_is_stopped(tree->root)) {
		(void)fputs("the tree is shutting down", reason);
		return -ESHUTDOWN;
	}
	if (!how->template && enable_is_scaling(tree->ctx)) {
		(void)fputs("the number of instances of a template is being changed", reason);
		return -EINVAL;
	}
	if (!how->open && !how->dry_run && rollout_is_open(reload->rollout)) {
		(void)fputs("a rollout is not finished, or a reload is not confirmed: see "
			    "swansongctl rollout",
			    reason);
		return -EINVAL;
	}
	if (!config)
		r = reload_read_files(reload, log, reason, &config);
	if (r == 0)
		r = reload_check_transients(tree, config, log, reason);
	if (r < 0)
		return r;
	scaled = disabled_has_scaled(&tree->ctx->disabled, "");
	if (how->template)
		*reading = (struct enable_reading){ .kept = true };
	else
		enable_begin(reading, tree, config, log);
	scaled |= disabled_has_scaled(&tree->ctx->disabled, "");
	if (scaled && !how->template && !how->config) {
		/* Its state file may have other numbers of instances. */
		config = config_unref(config);
		r = reload_read_files(reload, NULL, reason, &config);
	}
	if (r == 0)
		r = plan_new(ret, tree, config, how->rollout);
	if (r == 0 && how->template && !plan_is_scaling(*ret, how->template)) {
		(void)fputs("the files have other changes: reload first, see reload --dry-run",
			    reason);
		*ret = plan_free(*ret);
		r = -EINVAL;
	}
	if (r < 0)
		enable_cancel(reading, tree);
	return r;
}

static int reload_plan_and_apply(const struct reload *reload, const struct reload_how *how,
				 FILE *reason, json_t **ret)
{
	cleanup(plan_freep) struct plan *plan = NULL;
	cleanup(json_decrefp) json_t *changes = NULL;
	struct tree *tree = reload->tree;
	struct enable_reading reading;
	int r = reload_make_plan(reload, how, how->dry_run ? NULL : tree->ctx->log, reason,
				 &reading, &plan);

	if (r < 0)
		return r;
	/* The plan describes changes to a state that is gone after it is applied. */
	changes = plan_json(plan);
	if (how->dry_run)
		r = changes ? 0 : -ENOMEM;
	else
		r = reload_apply_plan(plan);
	if (r < 0 || how->dry_run)
		enable_cancel(&reading, tree);
	else if (!how->template)
		enable_commit(&reading, tree);
	if (r == 0 && !how->dry_run && plan->n_entries + plan->n_daemon > 0)
		changes_add(reload->changes, tree->config);
	if (r == 0)
		*ret = take(changes);
	return r;
}

int reload_run(const struct reload *reload, const struct reload_how *how, FILE *reason,
	       json_t **ret)
{
	struct context *ctx = reload->tree->ctx;
	int r;

	if (!how->dry_run)
		parent_reloading(reload->parent);
	free(take(ctx->refused));
	r = reload_plan_and_apply(reload, how, reason, ret);
	if (r < 0 && ctx->refused)
		(void)fprintf(reason, "\n%s", ctx->refused);
	/* These errors have a text already. */
	else if (r < 0 && r != -EINVAL && r != -EOPNOTSUPP && r != -ESHUTDOWN)
		(void)fputs(strerror(-r), reason);
	if (how->dry_run)
		return r;
	if (r < 0)
		log_line(ctx->log, LOG_ERR, "the reload is refused: nothing has changed");
	else if ((!how->rollout || how->template) && !how->open)
		rollout_clear(reload->rollout);
	if (r == 0 && reload->survivors)
		survivors_claim_added(reload->survivors);
	if (r == 0 && !how->begins_rollout)
		tree_enter_config(reload->tree);
	parent_reloaded(reload->parent, r < 0 ? "Reload refused: nothing has changed" : "Reloaded");
	context_update_soon(ctx);
	return r;
}

int reload_logged(const struct reload *reload, const struct reload_how *how)
{
	struct log *log = reload->tree->ctx->log;
	cleanup(freep) char *reason = NULL;
	json_t *changes = NULL;
	struct memstream m;
	int r = memstream_open(&m);

	if (r < 0) {
		log_line(log, LOG_ERR, "the reload is refused: %s", strerror(-r));
		return r;
	}
	r = reload_run(reload, how, m.file, &changes);
	(void)memstream_close(&m, &reason); /* without @reason the number shows the error */
	json_decref(changes);
	/* Mistakes with a place in a file are in the log already. */
	if (r < 0 && !(reason && *reason == '\n'))
		log_line(log, LOG_ERR, "%s", reason && *reason ? reason : strerror(-r));
	return r;
}

int reload_scale(void *arg, const char *template, FILE *reason)
{
	const struct reload_how how = { .rollout = true, .template = template };
	json_t *changes = NULL;
	int r = reason ? reload_run(arg, &how, reason, &changes) : reload_logged(arg, &how);

	json_decref(changes);
	return r;
}
