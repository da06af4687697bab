#pragma once

/*
 * swansong-sandbox in front of the command of a service that has one of its keys.  The program makes the
 * namespaces and filters (src/sandbox), so the child of the daemon keeps the capabilities for it; in the
 * end the service has what it would have without the program.
 */

#include "daemon/streams/activation.h"
#include "daemon/writer/program.h"
#include "model/base/settings.h"
#include "sys/spawn/spec.h"

#define SANDBOX_VARIABLES_MAX 16

struct sandbox_words {
	char **words; /* n of its own, and room for those of a launch */
	size_t n;
	char program[24], report[24];
};

/* Makes the program and its options in @ret, or NULL if no key is set.  Return: 0 or -ENOMEM. */
int sandbox_new(struct sandbox_words **ret, const struct node_config *config);
struct sandbox_words *sandbox_free(struct sandbox_words *sandbox);

/*
 * Puts @sandbox in front of the program of @spec, which gets @attributes, and its program behind the files of @plan,
 * which @spec has.  Variables that the dynamic loader reads are moved out of the environment of the child: they are
 * for the service, and the program has more rights.  Return: 0, -E2BIG: too many of them; or -errno.
 */
int sandbox_wrap(struct sandbox_words *sandbox, struct context *ctx, struct activation_plan *plan,
		 struct spawn_spec *spec, struct attributes *attributes);
