#include "ctl/cmd.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "ctl/losses.h"
#include "ctl/nodes.h"
#include "ctl/progress.h"

/*
 * One verb on several nodes: all of them are asked first, and waited for afterwards, so that one
 * that waits for another of them does not do so in vain.
 */
struct verb {
	enum interface_method method;
	const char *name;  /* "start" */
	const char *until; /* what is waited for */
	const char *done;  /* "ready" */
	const char *begun; /* "starting" */
};

static void say_node(struct ctl *ctl, const char *path, const char *what, bool forced)
{
	char name[1024];

	ctl_say(ctl, "%s: %s%s\n", text_escape(name, sizeof(name), node_name(path)), what,
		forced ? ", forced" : "");
}

static void set_ongoing(struct ctl *ctl, const char *what, const char *path, const char *until)
{
	ctl->ongoing = (struct ongoing){ .what = what, .node = path, .until = until };
}

static json_t *wait_parameters(const char *path, const char *until)
{
	return json_pack("{s:s, s:s}", "node", path, "until", until);
}

/*
 * As session_do(), of an end that may have been forced; what follows from that may have failed as
 * well.
 */
static int call(struct ctl *ctl, enum interface_method method, json_t *parameters, json_t *losses)
{
	struct message_reply reply;
	int r = session_ask(ctl, method, parameters, &reply);

	if (r != CTL_DONE)
		return r;
	if (reply.error) {
		(void)losses_say(ctl, reply.parameters);
		r = session_refused(ctl, &reply);
	} else {
		losses_collect(losses, reply.parameters);
	}
	message_reply_done(&reply);
	return r;
}

static int ask(struct ctl *ctl, const struct verb *verb, const char *path, bool wait,
	       json_t *losses)
{
	set_ongoing(ctl, verb->name, path, verb->until);
	return call(ctl, verb->method, json_pack("{s:s, s:b}", "node", path, "wait", wait), losses);
}

static int await(struct ctl *ctl, const struct verb *verb, const char *path, json_t *losses)
{
	set_ongoing(ctl, verb->name, path, verb->until);
	return call(ctl, METHOD_WAIT, wait_parameters(path, verb->until), losses);
}

/* Of one node: says what has come of it. */
static void finish_one(struct ctl *ctl, const struct verb *verb, const char *path, json_t *losses,
		       json_t *all)
{
	bool forced = losses_say(ctl, losses);

	losses_collect(all, losses);
	say_node(ctl, path, ctl->options.no_wait ? verb->begun : verb->done, forced);
}

static int verb_on_all(struct ctl *ctl, const struct verb *verb, char **paths, json_t *all)
{
	bool wait = !ctl->options.no_wait, together = paths[0] && paths[1];
	int r = CTL_DONE;

	for (size_t i = 0; together && r == CTL_DONE && paths[i]; i++)
		r = ask(ctl, verb, paths[i], false, all);
	for (size_t i = 0; r == CTL_DONE && paths[i]; i++) {
		cleanup(json_decrefp) json_t *losses = json_object();

		if (!together)
			r = ask(ctl, verb, paths[i], wait, losses);
		else if (wait)
			r = await(ctl, verb, paths[i], losses);
		if (r == CTL_DONE)
			finish_one(ctl, verb, paths[i], losses, all);
	}
	return r;
}

static int run_verb(struct ctl *ctl, const struct verb *verb, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *losses = json_object();
	cleanup(freep) char **paths = NULL;
	int r = nodes_resolve(ctl, argv, (size_t)argc, &paths);

	if (r == CTL_DONE)
		r = verb_on_all(ctl, verb, paths, losses);
	if (r == CTL_DONE && ctl->options.json)
		r = ctl_print_json(ctl, losses);
	/* Work was lost, and nobody has asked for that. */
	if (r == CTL_DONE && json_object_size(losses) > 0)
		return CTL_FAILED;
	/* 75 is for a guard that can be tried again later. */
	return r == CTL_STOPPED ? CTL_FAILED : r;
}

int cmd_start(struct ctl *ctl, int argc, char **argv)
{
	static const struct verb start = { METHOD_START, "start", "ready", "ready", "starting" };

	return run_verb(ctl, &start, argc, argv);
}

int cmd_stop(struct ctl *ctl, int argc, char **argv)
{
	static const struct verb stop = { METHOD_STOP, "stop", "complete", "complete", "stopping" };

	return run_verb(ctl, &stop, argc, argv);
}

int cmd_restart(struct ctl *ctl, int argc, char **argv)
{
	static const struct verb restart = { METHOD_RESTART, "restart", "ready", "ready",
					     "restarting" };

	return run_verb(ctl, &restart, argc, argv);
}

static int wait_for(struct ctl *ctl, const char *path, const char *until)
{
	return session_do(ctl, METHOD_WAIT, wait_parameters(path, until));
}

/* The same on a terminal, with what it still waits for. */
static int watch_for(struct ctl *ctl, const char *path, const char *until)
{
	struct progress last = {}, p;
	int r = session_open(ctl);

	if (r == CTL_DONE)
		r = session_send(ctl, METHOD_WAIT, wait_parameters(path, until), MESSAGE_MORE);
	if (r != CTL_DONE)
		return r;
	do {
		r = progress_receive(ctl, &last, &p);
		if (r != 0)
			break;
		progress_done(&last);
		last = p;
		if (last.reply.continues)
			r = progress_redraw(ctl, &last);
	} while (r == 0 && last.reply.continues);
	progress_done(&last);
	screen_wipe(&ctl->out);
	return r < 0 ? ctl_fail(ctl, r) : r;
}

int cmd_wait(struct ctl *ctl, int argc, char **argv)
{
	const char *until = ctl->options.until ? ctl->options.until : "complete";
	cleanup(freep) char **paths = NULL;
	int r;

	/* It may have been started just now; for ever nobody is to wait for what may never come. */
	ctl->awaits_daemon = ctl->options.timeout_usec != USEC_INFINITY &&
			     (strcmp(until, "ready") == 0 || strcmp(until, "running") == 0);
	r = nodes_resolve(ctl, argv, (size_t)argc, &paths);
	for (size_t i = 0; r == CTL_DONE && paths[i]; i++) {
		r = progress_is_drawn(ctl) ? watch_for(ctl, paths[i], until)
					   : wait_for(ctl, paths[i], until);
		if (r == CTL_DONE)
			say_node(ctl, paths[i], until, false);
	}
	return session_finish(ctl, r == CTL_STOPPED ? CTL_FAILED : r);
}
