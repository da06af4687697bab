/*
 * Reloads of the configuration and of a service, and the upgrade of the daemon.  A reload of the
 * configuration waits for a trial (daemon/reload/trial.h); its reply has the changes, or the mistakes.  An
 * upgrade is replied to by the program that is at work after it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memstream.h"
#include "daemon/control/requests-private.h"
#include "daemon/reload/trial.h"
#include "daemon/reload/upgrade.h"
#include "daemon/service/reload.h"

static enum reload_mode request_mode_of(const struct message_call *call)
{
	const char *rollout = message_get_text(call->parameters, "rollout");

	if (strcmp(rollout, "begin") == 0)
		return RELOAD_BEGIN;
	return strcmp(rollout, "undo") == 0 ? RELOAD_UNDO : RELOAD;
}

static void request_carry_out_reload(struct request *q)
{
	cleanup(freep) char *reason = NULL;
	json_t *changes = NULL;
	struct memstream m;
	int r = memstream_open(&m);

	if (r >= 0) {
		r = (q->dry_run ? reload_plan : reload_run)(q->reload, q->mode, m.file, &changes);
		(void)memstream_close(&m, &reason); /* without @reason the number shows the error */
	}
	if (r < 0)
		request_fail(q, ERROR_FAILED, "root", reason && *reason ? reason : strerror(-r));
	else
		request_reply(q, json_pack("{s:o}", "changes", changes));
}

void request_reload(struct request *q, struct node *node, const struct message_call *call)
{
	q->dry_run = message_get_bool(call->parameters, "dry_run", false);
	q->mode = request_mode_of(call);
	if (!q->reload->trial || q->mode == RELOAD_UNDO) {
		request_carry_out_reload(q);
		return;
	}
	events_cause(q->tree->ctx->events, q->cause);
	q->trial = trial_begin(q->reload->trial);
	request_begin_wait(q, node, call);
}

void request_update_reload(struct request *q, struct node *node)
{
	const struct trial *trial = q->reload->trial;
	int r = q->trial == trial->number ? trial->result : 0;

	if (r == -ETIMEDOUT)
		request_fail(q, ERROR_FAILED, "root",
			     "the configuration cannot be read: a file system does not answer");
	if (r != 0)
		return;
	events_because(q->tree->ctx->events, q->cause);
	request_carry_out_reload(q);
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
