/*
 * Reloads of the configuration and of a service, and the upgrade of the daemon.  A reload of the
 * configuration by its files waits for a trial (daemon/reload/trial.h); its reply has the changes, or the mistakes.
 * An upgrade is replied to by the program that is at work after it.
 */

#include "daemon/control/requests-private.h"
#include "daemon/reload/changes.h"
#include "daemon/reload/steps.h"
#include "daemon/reload/trial.h"
#include "daemon/reload/upgrade.h"
#include "daemon/service/reload.h"

/* Does what the call asks for; one that goes on is replied to by request_update_reload(). */
static void request_carry_out(struct request *q)
{
	cleanup(json_decrefp) json_t *parameters = take(q->parameters);
	bool rollout = q->method == METHOD_ROLLOUT, to = json_object_get(parameters, "to");
	int tape = changes_find(q->reload->changes, message_get_number(parameters, "to", 0));
	cleanup(config_unrefp) struct config *config = NULL;
	struct reload_how how = {
		.rollout = rollout,
		.dry_run = message_get_bool(parameters, "dry_run", false),
	};
	cleanup(freep) char *reason = NULL;
	struct memstream m;
	int r = to && tape < 0 ? tape : memstream_open(&m);

	if (r < 0) {
		request_fail(q, ERROR_FAILED, "root",
			     r == tape ? "no configuration of that number: see swansongctl changes"
				       : strerror(-r));
		return;
	}
	events_because(q->tree->ctx->events, q->cause);
	if (to)
		r = reload_config_of_tape(&config, q->reload, tape, m.file);
	how.config = config;
	if (r < 0)
		; /* it has mistakes by now */
	else if (rollout && strcmp(message_get_text(parameters, "action"), "begin") != 0)
		r = steps_act(q->reload, parameters, m.file);
	else if (rollout || message_get_number(parameters, "confirm_usec", 0) > 0)
		r = steps_begin(q->reload, &how, parameters, m.file, &q->with);
	else
		r = reload_run(q->reload, &how, m.file, &q->with);
	(void)memstream_close(&m, &reason); /* without @reason the number shows the error */
	if (r < 0)
		request_fail(q, ERROR_FAILED, "root", reason && *reason ? reason : strerror(-r));
	else if (!rollout || how.dry_run)
		request_reply(q, json_pack("{s:O, s:o*}", "changes", q->with, "rollout",
					   rollout ? steps_foresee(q->reload->rollout, parameters,
								   q->with)
						   : NULL));
}

/* A reload, or an action of the rollout.  It begins when a trial has shown that the files can be read. */
void request_reload(struct request *q, struct node *node, const struct message_call *call)
{
	json_t *nodes = json_object_get(call->parameters, "nodes"), *name;
	bool files = q->method == METHOD_RELOAD
			     ? !json_object_get(call->parameters, "to")
			     : strcmp(message_get_text(call->parameters, "action"), "begin") == 0;
	size_t i;

	json_array_foreach (nodes, i, name) {
		const struct node *top = request_find(q, json_string_value(name));

		if (!top) {
			request_fail_unknown(q, json_string_value(name));
			return;
		}
		(void)json_array_set_new(nodes, i, json_string(top->config->path));
	}
	q->parameters = json_incref(call->parameters);
	q->blocking = message_get_bool(call->parameters, "wait", true);
	q->seen = 0;
	q->trial = files && q->reload->trial ? trial_begin(q->reload->trial, NULL) : 0;
	q->look = message_get_bool(call->parameters, "outdated", false)
			  ? programs_look(q->reload->programs, true)
			  : 0;
	request_begin_wait(q, node, call);
}

void request_update_reload(struct request *q, struct node *node)
{
	struct rollout *ro = q->reload->rollout;
	int r = q->trial ? trial_result(q->reload->trial, q->trial) : 0;
	bool over;
	json_t *reply;

	if (r == -ETIMEDOUT)
		request_fail(q, ERROR_FAILED, "root", TRIAL_TIMEOUT_TEXT);
	else if (r == 0 && !programs_are_known(q->reload->programs, q->tree->root, q->look))
		return;
	else if (r == 0 && q->parameters)
		request_carry_out(q);
	over = !rollout_is_at_work(ro) || !q->blocking;
	if (r < 0 || !q->waiting ||
	    (!over && (q->seen == ro->version || !q->more || connection_is_clogged(q->connection))))
		return;
	q->trial = 0;
	q->seen = ro->version;
	rollout_write(ro); /* a fault after the reply finds it */
	reply = json_pack("{s:o, s:o*}", "rollout", rollout_json(ro), "changes", take(q->with));
	if (over)
		request_reply(q, reply);
	else
		connection_reply(q->connection, reply, true);
}

void request_changes(struct request *q, struct node *node, const struct message_call *call)
{
	request_reply(q, json_pack("{s:o}", "configurations", changes_json(q->reload->changes)));
}

/* --- numbers of instances --- */

/* Returns the reason why @template cannot be scaled, or NULL. */
static const char *request_refuse_scale(const struct tree *tree, const char *template,
					uint64_t number)
{
	bool any = disabled_has_scaled(&tree->ctx->disabled, template);

	if (config_check_name(template) || !config_is_template(template))
		return "is no template: expected a name that ends with @, for example web@";
	if (number != FIELD_NONE && number > CONFIG_INSTANCES_MAX)
		return "too many instances: at most " STRINGIFY(CONFIG_INSTANCES_MAX);
	for (const struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		const char *name = n->config->path + strlen(template);

		if (!config_is_instance(n->config->path, template))
			continue;
		any = true;
		if (!n->config->stated && name[strspn(name, "0123456789")])
			return "its instances have names: change instances in the file";
	}
	return any ? NULL : "no template has this name, or it has no instances";
}

void request_scale(struct request *q, struct node *node, const struct message_call *call)
{
	const char *template = message_get_text(call->parameters, "template"), *why;

	q->instances = message_get_number(call->parameters, "instances", FIELD_NONE);
	q->change = 0;
	why = request_refuse_scale(q->tree, template, q->instances);
	if (why || !q->reload->trial) {
		request_fail(q, ERROR_FAILED, template, why ? why : "no configuration");
		return;
	}
	q->trial = trial_begin(q->reload->trial, NULL);
	request_begin_wait(q, node, call);
	(void)snprintf(q->path, sizeof(q->path), "%s", template);
}

/* Begins the change, unless another one is being written. */
static void request_begin_scale(struct request *q)
{
	const uint64_t *instances = q->instances == FIELD_NONE ? NULL : &q->instances;
	cleanup(freep) char *reason = NULL;
	struct memstream m;
	int r = memstream_open(&m);

	if (r >= 0) {
		events_because(q->tree->ctx->events, q->cause);
		r = enable_scale(q->tree, q->path, instances, &q->reload->scaling, m.file,
				 &q->change);
		(void)memstream_close(&m, &reason);
	}
	if (r == 0 || r == -EBUSY)
		return;
	if (reason && *reason)
		request_fail(q, ERROR_FAILED, q->path, reason);
	else
		request_fail_enable(q, q->path, -r);
}

void request_update_scale(struct request *q, struct node *node)
{
	int r = trial_result(q->reload->trial, q->trial);

	if (q->change)
		request_update_enable(q, q->tree->root);
	else if (r == 0)
		request_begin_scale(q);
	else if (r != -EINPROGRESS)
		request_fail_enable(q, q->path, -r);
}

void request_upgrade(struct request *q, struct node *node, const struct message_call *call)
{
	q->dry_run = message_get_bool(call->parameters, "dry_run", false);
	upgrade_begin(q->reload->upgrade);
	request_begin_wait(q, node, call);
}

void request_update_upgrade(struct request *q, struct node *node)
{
	struct upgrade *u = q->reload->upgrade;
	const char *version = u->text, *from = PACKAGE_VERSION;

	if (u->state == UPGRADE_REHEARSED && !q->dry_run)
		upgrade_carry_out(u);
	if (u->state == UPGRADE_REFUSED) {
		request_fail(q, ERROR_FAILED, "root", u->text);
		return;
	}
	if (u->state == UPGRADE_DONE) {
		version = PACKAGE_VERSION;
		from = u->from;
	} else if (u->state != UPGRADE_REHEARSED || !q->dry_run) {
		return;
	}
	request_reply(q, json_pack("{s:o, s:o}", "version", message_string(version), "from",
				   message_string(from)));
}

static const char *request_reload_fault(int r)
{
	if (r == -ESRCH)
		return "is not up";
	if (r == -EPROTO)
		return "the reload-signal would end its main process, which does not handle it: set "
		       "reload-signal or reload-command, for example reload-signal = SIGUSR1";
	return r == -EBUSY ? "the reload-command is still running" : strerror(-r);
}

void request_reload_service(struct request *q, struct node *node, const struct message_call *call)
{
	struct service *s = request_find_running_service(q, node);
	int r;

	if (!s)
		return;
	r = service_reload(s);
	if (r < 0)
		request_fail(q, ERROR_FAILED, node_name(node), request_reload_fault(r));
	else
		request_succeed(q);
}
