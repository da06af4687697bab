#pragma once

/*
 * The commands of one key, start-command say: run as the service would be, one after the other, in
 * the order of the file, each in a session of its own.
 *
 * One guard is held on the node from before the first one runs until the end of the last has been
 * followed up, and what follows takes its own before.  Nothing is allocated.
 */

#include "daemon/spawn/launch.h"
#include "daemon/node/node.h"
#include "daemon/loop/process.h"
#include "model/keys/keys.h"
#include "model/life/policy.h"
#include "sys/process/reap.h"

#define HOOK_VARIABLE_MAX  48 /* bytes of one of them */
#define HOOK_VARIABLES_MAX 4

struct hook {
	struct context *ctx;
	const struct launch *launch;
	void (*on_end)(void *arg); /* may only note it: it is called in the middle of something */
	void *arg;

	struct process process;
	struct node *node; /* whose command runs, or has run; NULL: none */
	enum hook_kind kind;
	size_t next;		/* the command after it */
	struct outcome outcome; /* of the last command */
	struct alarm timer;	/* of whoever began it and gives it a time of its own */

	char *variables[HOOK_VARIABLES_MAX + 1];
	char texts[HOOK_VARIABLES_MAX][HOOK_VARIABLE_MAX];
};

/* All is borrowed.  @service owns what it leaves behind; NULL: that is killed with it. */
void hook_init(struct hook *hook, struct context *ctx, const struct launch *launch,
	       struct service *service, void (*on_end)(void *arg), void *arg);
void hook_done(struct hook *hook);

/*
 * Variables for the next hook_begin(): none, and one more of HOOK_VARIABLES_MAX; a @word is
 * borrowed until the end.
 */
void hook_clear_variables(struct hook *hook);
void hook_set_variable(struct hook *hook, const char *format, ...) printf_like(2, 3);

void hook_add_variable(struct hook *hook, char *word);

/*
 * Begins the first command of @kind, of which the node must have one; for HOOK_FINAL the last, and
 * so on.  It takes over @guard.  on_end() comes in any case.
 */
void hook_begin(struct hook *hook, struct node *node, enum hook_kind kind,
		struct swansong_guard guard, unsigned generation);

/* After an end: begins the next command, if there is one.  Return: has it? */
bool hook_continue(struct hook *hook);

/* After an end: nothing follows any more, and the guard is dropped. */
void hook_end(struct hook *hook);

bool hook_is_running(const struct hook *hook);

/* A command has ended, or could not be made, and nobody has followed it up yet. */
bool hook_has_ended(const struct hook *hook);

/* ... with status 0? */
bool hook_was_well(const struct hook *hook);

/* SIGTERM once, and SIGCONT, to the session of the command. */
void hook_term(struct hook *hook);
void hook_kill(struct hook *hook);

/* A process of PROCESS_HOOK has died; it has not been collected yet. */
void hook_died(struct process *process, const struct reap_exit *exit);
