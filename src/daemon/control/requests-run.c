/*
 * Requests about transient nodes.  A call that waits gets its reply when the service has ended,
 * with its result and exit status.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memstream.h"
#include "daemon/control/requests-private.h"
#include "daemon/reload/transient.h"

/* The strings belong to @array.  NULL without memory. */
static char **request_words_of(const json_t *array)
{
	size_t n = json_array_size(array);
	char **words = calloc(n + 1, sizeof(*words));

	for (size_t i = 0; words && i < n; i++)
		words[i] = (char *)json_string_value(json_array_get(array, i));
	return words;
}

static int request_add_transient(struct request *q, const struct message_call *call, FILE *reason,
				 struct node **ret)
{
	const char *path = message_get_text(call->parameters, "node");
	bool keep = message_get_bool(call->parameters, "keep", false);
	cleanup(freep) char **argv = request_words_of(json_object_get(call->parameters, "command"));
	cleanup(freep) char **properties =
		request_words_of(json_object_get(call->parameters, "properties"));

	if (!argv || !properties)
		return -ENOMEM;
	if (!argv[0] || !*argv[0]) {
		(void)fputs("empty command: expected a program and its arguments", reason);
		return -EINVAL;
	}
	return transient_add(q->tree, path, properties, argv, keep, reason, ret);
}

void request_update_run(struct request *q, struct node *node)
{
	char text[OUTCOME_TEXT_MAX];

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

void request_run(struct request *q, struct node *node, const struct message_call *call)
{
	const char *path = message_get_text(call->parameters, "node");
	cleanup(freep) char *reason = NULL;
	struct memstream m;
	int r = memstream_open(&m);

	if (r >= 0) {
		r = request_add_transient(q, call, m.file, &node);
		(void)memstream_close(&m, &reason);
	}
	if (r == -ENOENT)
		request_fail(q, ERROR_FAILED, path,
			     "no parent node: expected a path below an existing group");
	else if (r == -ESHUTDOWN)
		request_fail(q, ERROR_NODE_STOPPED, path, NULL);
	else if (r < 0)
		request_fail(q, ERROR_FAILED, path, reason && *reason ? reason : strerror(-r));
	else if (message_get_bool(call->parameters, "wait", false))
		request_begin_wait(q, node, call);
	else
		request_reply(q, json_object());
}
