#pragma once

/*
 * The commands of one key, such as start-command.  They run with the attributes of the service, one
 * after the other in the order of the file, each in a session of its own.
 *
 * One guard on the node is held from before the first command until the end of the last one is
 * processed; later work takes its own guard before that.  Nothing is allocated.
 */

#include "daemon/spawn/launch.h"
#include "daemon/node/node.h"
#include "model/life/policy.h"

#define HOOK_VARIABLE_MAX  48 /* bytes of a variable */
#define HOOK_VARIABLES_MAX 4

struct hook {
	struct context *ctx;
	const struct launch *launch;
	void (*on_end)(void *arg); /* called inside other functions: it may only note the end */
	void *arg;

	struct process process;
	struct node *node; /* of the present or last command; NULL: none */
	enum hook_kind kind;
	size_t next;		/* index of the next command, with its chores */
	struct outcome outcome; /* of the last command */
	struct alarm timer;	/* for an owner that limits the time of its commands; off at their end */
	/* Opens the standard input of the next command, for an owner that sets it; or returns 0. */
	int (*open_input)(void *arg);

	size_t n_variables;
	char *variables[HOOK_VARIABLES_MAX + 1];
	char texts[HOOK_VARIABLES_MAX][HOOK_VARIABLE_MAX];
};

/*
 * Sets up @hook; all arguments are borrowed.  Remaining processes belong to @service; if it is
 * NULL, they are killed with the command.  @on_limit is the function of its timer, if that is used.
 */
void hook_init(struct hook *hook, struct context *ctx, const struct launch *launch,
	       struct service *service, void (*on_end)(void *arg), void *arg,
	       void (*on_limit)(struct alarm *timer));

/*
 * Clears the variables for the next hook_begin(); the functions below add one, up to
 * HOOK_VARIABLES_MAX. A @word is borrowed until the end.
 */
void hook_clear_variables(struct hook *hook);
void hook_set_variable(struct hook *hook, const char *format, ...) printf_like(2, 3);

void hook_add_variable(struct hook *hook, char *word);

/*
 * Begins the first command of @kind, of which the node must have one; HOOK_FINAL begins with the
 * last.  Takes ownership of @guard.  on_end() is called in any case.
 */
void hook_begin(struct hook *hook, struct node *node, enum hook_kind kind,
		struct swansong_guard guard, unsigned generation);

/* Goes on, in the next image, with the command before @next, which succeeds unless the caller adds its process. */
void hook_resume(struct hook *hook, struct node *node, enum hook_kind kind, size_t next);

/* Begins the next command after the end of one.  Returns false if there is none. */
bool hook_continue(struct hook *hook);

/*
 * The same for commands of which a failed one does not stop the others: logs its failure.  With
 * @spent no other command begins.
 */
bool hook_continue_anyway(struct hook *hook, bool spent);

/* Ends the hook, after its last command or before it is freed, and releases the guard. */
void hook_end(struct hook *hook);

bool hook_is_running(const struct hook *hook);

/* Returns true if a command has ended or could not be made, and that has not been processed. */
bool hook_has_ended(const struct hook *hook);

/* Returns true if the ended command had status 0. */
bool hook_was_well(const struct hook *hook);

/* Sends SIGTERM, once, and SIGCONT to the session of the command. */
void hook_term(struct hook *hook);
void hook_kill(struct hook *hook);

/* Kills the command and logs @reason.  With @forced, as a reason, the kill is one that a stop has forced. */
void hook_kill_late(struct hook *hook, const char *reason, const char *forced);

/* @process, of kind PROCESS_HOOK, runs its program (@why is NULL), or could not run it. */
void hook_settle_start(struct process *process, const struct spawn_failure *why);

/* Handles the end of @process, of kind PROCESS_HOOK, which is not collected yet. */
void hook_died(struct process *process, const struct reap_exit *exit);
