#pragma once

/*
 * The tree of tree-world.h with its control socket, in the directory of scratch.h.  The test is the
 * clients: a call and its reply are in one process, so none of them is waited for.
 */

#include "daemon/control/control.h"
#include "daemon/reload/changes.h"
#include "daemon/reload/rollout.h"
#include "daemon/reload/trial.h"
#include "daemon/reload/upgrade.h"
#include "tests/unit/fixtures/daemon/tree-world.h"
#include "tests/unit/fixtures/scratch.h"

extern struct control *control;
extern struct trial trial;
extern struct programs programs;
extern struct upgrade upgrade;
extern struct rollout rollout;
extern struct changes changes;

/* Makes the tree of @text, and its control socket.  The configuration file is "config". */
void control_begin(const char *text);

/* Returns a test case with tests that call control_begin(). */
TCase *control_case(const char *name);

/* Lets the loop and the turn handle all that there is. */
void serve(void);

/* Lets time pass, as pass() does, and serves. */
void serve_later(uint64_t usec);

/* Waits for the end of a child of the daemon, which is a closer, and serves. */
void serve_child(void);

/* Returns a new client; the test ends it by close(). */
int client_new(void);

/* Calls the method with the members @parameters, and serves.  @more: with several replies. */
void call(int client, const char *method, const char *parameters);
void call_more(int client, const char *method, const char *parameters);

/* Returns the text of the next reply; "" if there is none, and "end" at the end of the connection. */
const char *reply(int client);

/* Checks that the next reply is this text. */
void expect_reply(int client, const char *text);

/* Checks that it contains the text. */
void expect_in_reply(int client, const char *text);
