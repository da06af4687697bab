#pragma once

/*
 * The rollout, the present or last one: services that are restarted one after another, or a reload that awaits
 * its confirmation.  It has the configuration to which it goes back, and goes on without its client, and over a
 * fault or an upgrade.  This module has its data and shows them; its steps are in daemon/reload/steps.h.
 */

#include "daemon/tree/tree.h"

enum rollout_state {
	ROLLOUT_NONE,
	ROLLOUT_RUNNING,     /* services are restarted with the present settings */
	ROLLOUT_PAUSED,	     /* it goes on, or back, by request */
	ROLLOUT_UNDOING,     /* services are restarted with the settings of before */
	ROLLOUT_UNCONFIRMED, /* a reload: it goes back at its alarm, unless it is confirmed */
	ROLLOUT_DONE,
	ROLLOUT_FAILED, /* no further service is restarted */
	ROLLOUT_UNDONE,
	N_ROLLOUT_STATES
};

enum step_state { STEP_PENDING, STEP_RESTARTING, STEP_READY, STEP_FAILED, N_STEP_STATES };

struct rollout {
	struct tree *tree;
	enum rollout_state state;
	uint64_t since_usec; /* when the state was entered */
	json_t *shown;	     /* a Rollout (proto/interface/types.h) without these two; NULL: none */
	json_t *words
		[N_STEP_STATES]; /* values of its steps, so that a change of one needs no memory */
	uint64_t begun_usec;	 /* when the last restarts were requested */
	struct config *before;	 /* the one that an undo restores; NULL: none */
	int before_tape;	 /* its texts, for the next image; or -1 */
	uint64_t before_usec;	 /* when it was replaced */
	bool to_apply;		 /* UNDOING: the settings of before, after this trial */
	unsigned trial;		 /* ... 0: it is to begin */
	struct alarm alarm;	 /* of the next look; UNCONFIRMED: of the way back */
	unsigned version, written;    /* number of the last change that is shown, and of the last one in its row */
	int row;		      /* the memory file of its row; or -1 */
	unsigned place, before_place; /* of its rows in the roster */
};

/* Return: 0 or -ENOMEM. */
int rollout_init(struct rollout *rollout, struct tree *tree);
void rollout_done(struct rollout *rollout);

/* Forgets the rollout: a reload has restarted all that it has left. */
void rollout_clear(struct rollout *rollout);

/* Returns true until the rollout has come to an end; other reloads are refused meanwhile. */
static inline bool rollout_is_open(const struct rollout *rollout)
{
	return rollout->state >= ROLLOUT_RUNNING && rollout->state <= ROLLOUT_UNCONFIRMED;
}

static inline bool rollout_is_at_work(const struct rollout *rollout)
{
	return rollout->state == ROLLOUT_RUNNING || rollout->state == ROLLOUT_UNDOING;
}

/* Enters @state, with a line in the log and an event.  @reason is copied; or NULL. */
void rollout_enter(struct rollout *rollout, enum rollout_state state, const char *reason);

/* Returns an object to show, with a copy of @parameters, the present cause, and no steps; NULL without memory. */
json_t *rollout_prepare(const struct rollout *rollout, const json_t *parameters);

/* Shows @shown, which it takes over, instead of the former one. */
void rollout_show(struct rollout *rollout, json_t *shown);

/* The steps: objects of type RolloutStep. */
json_t *rollout_steps(const struct rollout *rollout);
json_t *rollout_find_step(const json_t *steps, const char *path);
const char *rollout_path_of(const json_t *step);
bool rollout_is_step(const struct rollout *rollout, const json_t *step, enum step_state state);
void rollout_enter_step(struct rollout *rollout, json_t *step, enum step_state state);

/* Returns a new step that is pending; NULL without memory. */
json_t *rollout_step(const struct rollout *rollout, const char *path);

/*
 * Makes the steps, of the services to restart; on the way back of the steps @former, in reverse order; else NULL.  A
 * service that is not ready comes first: if it stays so, the others are not touched.  Return: 0 or -ENOMEM.
 */
int rollout_choose(struct rollout *rollout, const json_t *former);

/* Uses @config, of which it gets a reference, for an undo, instead of the former one; or NULL. */
void rollout_use_before(struct rollout *rollout, struct config *config);

/* Returns true if the service has got settings since the one before was replaced, and needs a restart for others. */
bool rollout_has_renewed(const struct rollout *rollout, const struct service *service);

/* Returns true if services restart with their present settings, and each of them although another one has failed. */
bool rollout_is_rehearsal(const struct rollout *rollout);

/* Returns a Rollout; NULL if there is none, or no memory. */
json_t *rollout_json(const struct rollout *rollout);

/* Writes the rollout for the next image of the daemon, if it has changed. */
void rollout_write(struct rollout *rollout);

/* Takes over the rollout of the former image, with @before, or NULL if there is none. */
void rollout_take_former(struct rollout *rollout, struct config *before);
