/*
 * Requests about transient nodes.  A call that waits gets its reply when the service has ended,
 * with its result and exit status.  The parameters of the call, and the users that were found for them behind
 * these in the same file, are what the next image of the daemon makes the node of.
 *
 * The user database may not answer: a child looks the users up and writes them into that file.
 */
#include "daemon/control/requests-private.h"
#include "daemon/reload/transient.h"
#include "daemon/reload/trial.h"

/* The strings belong to @array.  NULL without memory. */
static char **request_words_of(const json_t *array)
{
	size_t n = json_array_size(array);
	char **words = calloc(n + 1, sizeof(*words));

	for (size_t i = 0; words && i < n; i++)
		words[i] = (char *)json_string_value(json_array_get(array, i));
	return words;
}

/* Returns a file with the parameters; 0 without memory. */
static int request_write_run(const json_t *parameters)
{
	int tape = memfd_create("transient", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (tape > 0 && json_dumpfd(parameters, tape, JSON_COMPACT) < 0)
		tape = fd_close(tape);
	return MAX(tape, 0);
}

/* Returns the parameters; the users are read next. */
static json_t *request_read_run(int tape)
{
	return lseek(tape, 0, SEEK_SET) < 0 ? NULL
					    : json_loadfd(tape, JSON_DISABLE_EOF_CHECK, NULL);
}

/* @tape then belongs to the node. */
static void request_enter_run(struct node *node, int tape)
{
	struct roster_row row = roster_row(ROSTER_TRANSIENT, tape, node_name(node), "");

	if (!node->ctx->roster) {
		(void)close(tape);
		return;
	}
	(void)fcntl(tape, F_ADD_SEALS, F_SEAL_WRITE);
	node->config_ref->tape = tape;
	roster_write(node->ctx->roster, &node->transient_place, &row);
}

/* Without @ret only asks for the users. */
static int request_add_transient(struct tree *tree, const json_t *parameters, int tape, bool ask,
				 FILE *reason, struct node **ret)
{
	cleanup(freep) char **argv = request_words_of(json_object_get(parameters, "command"));
	cleanup(freep) char **properties =
		request_words_of(json_object_get(parameters, "properties"));
	const struct transient_run run = {
		.path = message_get_text(parameters, "node"),
		.properties = properties,
		.argv = argv,
		.keep = message_get_bool(parameters, "keep", false),
		.tape = tape,
		.ask = ask,
	};

	if (!argv || !properties)
		return -ENOMEM;
	if (!ret) {
		transient_ask(tree, &run);
		return 0;
	}
	if (!argv[0] || !*argv[0]) {
		(void)fputs("empty command: expected a program and its arguments", reason);
		return -EINVAL;
	}
	return transient_add(tree, &run, reason, ret);
}

/* Returns false if the node cannot be made, or not yet, as it requires another one. */
static bool request_take_former_run(struct tree *tree, const struct roster_row *row)
{
	cleanup(json_decrefp) json_t *parameters = NULL;
	cleanup(freep) char *reason = NULL;
	struct memstream m;
	struct node *node;
	int tape, r = memstream_open(&m);

	if (r < 0)
		return false;
	parameters = request_read_run(row->number);
	r = request_add_transient(tree, parameters, row->number, true, m.file, &node);
	(void)memstream_close(&m, &reason);
	tape = r == 0 ? fcntl(row->number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
	if (tape > 0)
		request_enter_run(node, tape);
	return r == 0;
}

void requests_take_former_runs(struct tree *tree)
{
	struct roster_row *row;

	for (bool again = true; again;) {
		again = false;
		for (size_t at = 0; (row = roster_next(tree->ctx->roster, ROSTER_TRANSIENT, &at));)
			again |= request_take_former_run(tree, row);
	}
}

/* In the child. */
static int request_ask(void *arg)
{
	struct request *q = arg;
	int tape = dup2(q->tape, STDOUT_FILENO);

	fd_close_above(STDERR_FILENO);
	return request_add_transient(q->tree, request_read_run(tape), tape, true, NULL, NULL);
}

void request_on_asked(struct closer *closer)
{
	struct request *q = container_of(closer, struct request, asker);

	q->asked = true;
	context_update_soon(closer->ctx);
}

static void request_fail_run(struct request *q, const char *path, int r, const char *reason)
{
	if (r == -ENOENT)
		request_fail(q, ERROR_FAILED, path,
			     "no parent node: expected a path below an existing group");
	else if (r == -ESHUTDOWN)
		request_fail(q, ERROR_NODE_STOPPED, path, NULL);
	else if (r == -ENOSYS)
		request_fail(
			q, ERROR_FAILED, path,
			"its users and groups cannot be looked up: the user database does not answer");
	else
		request_fail(q, ERROR_FAILED, path, reason && *reason ? reason : strerror(-r));
}

/* Adds the node, at once or after its users have been looked up. */
static void request_carry_out_run(struct request *q, const struct message_call *call)
{
	cleanup(freep) char *reason = NULL;
	struct memstream m;
	struct node *node;
	int r = memstream_open(&m);

	if (r >= 0) {
		r = request_add_transient(q->tree, call->parameters, q->tape, false, m.file, &node);
		(void)memstream_close(&m, &reason);
	}
	if (r == -ENOSYS && !q->asked && q->tape > 0) {
		events_cause(q->tree->ctx->events, q->cause);
		q->waiting = true;
		closer_call_until(&q->asker, request_ask, q, clock_now_usec() + TRIAL_TIMEOUT_USEC);
		return;
	}
	if (r < 0) {
		request_fail_run(q, message_get_text(call->parameters, "node"), r, reason);
		return;
	}
	if (q->tape > 0)
		request_enter_run(node, q->tape);
	q->tape = 0;
	node_log(node, LOG_NOTICE, "added by request: %s", node->config->command);
	if (message_get_bool(call->parameters, "wait", false))
		request_begin_wait(q, node, call);
	else
		request_reply(q, json_object());
}

void request_run(struct request *q, struct node *node, const struct message_call *call)
{
	q->asked = false;
	q->tape = request_write_run(call->parameters);
	request_carry_out_run(q, call);
}

/* The users have been looked up. */
static void request_go_on_with_run(struct request *q)
{
	cleanup(json_decrefp) json_t *parameters = request_read_run(q->tape);
	const struct message_call call = { .parameters = parameters, .more = q->more };

	events_because(q->tree->ctx->events, q->cause);
	request_carry_out_run(q, &call);
}

void request_update_run(struct request *q, struct node *node)
{
	char text[OUTCOME_TEXT_MAX];

	if (q->tape > 0) {
		if (q->asked)
			request_go_on_with_run(q);
		return;
	}
	/* A section may have taken over the name meanwhile, even one of a group. */
	if (!node || !node->service) {
		request_fail(q, ERROR_NO_SUCH_NODE, q->path, NULL);
	} else if (transient_has_ended(node)) {
		const struct outcome *outcome = &node->service->run.outcome;

		request_reply(q, json_pack("{s:o, s:i}", "result",
					   message_string(policy_outcome_text(text, outcome)),
					   "status", policy_exit_status(outcome)));
	}
}
