/* A table has a function for each operation. */
#include "tests/sim/operations.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "tests/sim/client.h"
#include "tests/sim/kernel.h"
#include "tests/sim/run.h"
#include "tests/sim/short.h"
#include "tests/sim/system.h"

#define WORD 64

struct words {
	const struct history *history;
	char first[WORD], second[WORD];
	const char *rest; /* from the second word on */
};

static struct client *slots[SLOTS];
static struct client *reloader; /* of operations_reload() */
static char *texts[64];
static size_t n_texts;

void operations_init(void)
{
	memset(slots, 0, sizeof(slots));
	reloader = NULL;
	while (n_texts > 0)
		free(texts[--n_texts]);
}

static struct client *call(const char *method, bool more, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static struct client *call(const char *method, bool more, const char *format, ...)
{
	struct client *c = client_get();
	char parameters[256];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(parameters, sizeof(parameters), format, ap);
	va_end(ap);
	if (c)
		client_call(c, method, parameters, more);
	return c;
}

static void operation_start(const struct words *w)
{
	(void)call("Start", false, "\"node\":\"%s\"", w->first);
}

static void operation_stop(const struct words *w)
{
	(void)call("Stop", false, "\"node\":\"%s\"", w->first);
}

static void operation_restart(const struct words *w)
{
	(void)call("Restart", false, "\"node\":\"%s\"", w->first);
}

static void operation_shutdown(const struct words *w)
{
	bool force = strcmp(w->second, "force") == 0;
	char number[WORD] = "";

	run_facts.forced |= force;
	if (sscanf(w->rest, "within %63s", number) == 1)
		(void)call("Shutdown", false, "\"node\":\"%s\",\"grace_usec\":%s000", w->first,
			   number);
	else
		(void)call("Shutdown", false, "\"node\":\"%s\"%s", w->first,
			   force ? ",\"force\":true" : "");
}

static void operation_extend(const struct words *w)
{
	run_facts.prolonged = true;
	(void)call("Shutdown", false, "\"node\":\"%s\",\"extend_usec\":%s000", w->first, w->second);
}

static void operation_hold(const struct words *w)
{
	run_facts.prolonged = true;
	(void)call("Shutdown", false, "\"hold\":%s", w->first);
}

static void operation_wait(const struct words *w)
{
	char until[WORD] = "ready";

	(void)sscanf(w->rest, "%63s", until);
	(void)call("Wait", false, "\"node\":\"%s\",\"until\":\"%s\"", w->first, until);
}

static bool use_config(const struct words *w)
{
	char *text = history_config(w->history, w->first);

	if (!text || n_texts == ARRAY_SIZE(texts)) {
		free(text);
		return false;
	}
	run_facts.reloads = true;
	system_config = texts[n_texts++] = text;
	return true;
}

static void operation_reload(const struct words *w)
{
	if (use_config(w))
		(void)call("Reload", false, "%s", "");
}

/* A reload that goes back, unless it is confirmed in time. */
static void operation_unconfirmed_reload(const struct words *w)
{
	run_facts.rollouts = true;
	if (use_config(w))
		(void)call("Reload", false, "\"confirm_usec\":%s000", w->second);
}

static void operation_confirm(const struct words *w)
{
	(void)w;
	(void)call("Rollout", false, "\"action\":\"confirm\"");
}

bool operations_reload(const struct history *history, const char *name, uint64_t confirm_usec)
{
	struct words w = { .history = history };

	(void)snprintf(w.first, sizeof(w.first), "%s", name);
	if ((reloader && reloader->failed) || !use_config(&w))
		return false;
	reloader = confirm_usec ? call("Reload", false, "\"confirm_usec\":%" PRIu64, confirm_usec)
				: call("Reload", false, "%s", "");
	return reloader;
}

bool operations_is_reloaded(void)
{
	return reloader && !reloader->failed;
}

static void operation_back(const struct words *w)
{
	(void)snprintf(run_facts.back[0], sizeof(run_facts.back[0]), "%.7s", w->first);
	(void)snprintf(run_facts.back[1], sizeof(run_facts.back[1]), "%.7s", w->second);
}

static void operation_unconfirmed(const struct words *w)
{
	operation_back(w);
	run_facts.unconfirmed = run_facts.rollouts = true;
}

static void operation_hangup(const struct words *w)
{
	if (use_config(w))
		kernel_notify_daemon(SIGHUP, 0);
}

static void operation_rollout(const struct words *w)
{
	char path[WORD] = "";

	(void)sscanf(w->rest, "%63s", path);
	run_facts.rollouts = true;
	if (!use_config(w))
		return;
	(void)call("Rollout", false,
		   "\"action\":\"begin\",\"nodes\":[\"%s\"],\"settle_usec\":1000000%s%s",
		   strcmp(path, "/") == 0 ? "root" : path,
		   strstr(w->rest, "or-undo") ? ",\"or_undo\":true" : "",
		   strstr(w->rest, "pause") ? ",\"pause_after\":1" : "");
}

/* A service may be gone meanwhile, and the call has an error then. */
static void operation_rehearse(const struct words *w)
{
	run_facts.rollouts = true;
	(void)call("Rollout", false,
		   "\"action\":\"rehearse\",\"nodes\":[\"%s\",\"%s\"],\"settle_usec\":1000000",
		   w->first, w->second);
}

static void operation_undo(const struct words *w)
{
	(void)w;
	(void)call("Rollout", false, "\"action\":\"undo\",\"wait\":false");
}

static void operation_continue(const struct words *w)
{
	(void)w;
	(void)call("Rollout", false, "\"action\":\"continue\"");
}

static struct client **find_slot(const struct words *w)
{
	unsigned i = (unsigned)atoi(w->first);

	return i < SLOTS ? &slots[i] : NULL;
}

static void operation_leave(const struct words *w)
{
	struct client **slot = find_slot(w);

	if (slot && *slot)
		client_leave(*slot);
	if (slot)
		*slot = NULL;
}

static void operation_guard(const struct words *w)
{
	struct client **slot = find_slot(w);
	char path[WORD] = "", late[WORD] = "";

	(void)sscanf(w->rest, "%63s %63s", path, late);
	if (!slot)
		return;
	operation_leave(w);
	run_facts.guards = true;
	*slot = call("TakeGuard", false, "\"node\":\"%s\",\"why\":\"sim\"%s", path,
		     *late ? ",\"late\":true" : "");
	if (*slot)
		(void)snprintf((*slot)->guarding, sizeof((*slot)->guarding), "%s", path);
}

/* The host is going to sleep until the client leaves. */
static void operation_sleep(const struct words *w)
{
	struct client **slot = find_slot(w);

	if (!slot)
		return;
	operation_leave(w);
	*slot = call("Inhibit", true, "\"sleep\":true");
}

static void operation_release(const struct words *w)
{
	struct client **slot = find_slot(w);

	if (slot && *slot && (*slot)->state == CLIENT_CONNECTED && !(*slot)->waits)
		client_call(*slot, "Release", "\"why\":\"sim\"", false);
}

static void operation_leave_all(const struct words *w)
{
	(void)w;
	for (unsigned i = 0; i < CLIENTS_MAX; i++) {
		run_facts.left |= client_at(i)->waits;
		client_leave(client_at(i));
	}
	memset(slots, 0, sizeof(slots));
}

void operations_calm(void)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (slots[i])
			client_leave(slots[i]);
	memset(slots, 0, sizeof(slots));
	(void)call("Shutdown", false, "\"hold\":false");
	/* It would keep reloads from being made. */
	(void)call("Rollout", false, "\"action\":\"continue\"");
}

static void operation_signal(const struct words *w)
{
	(void)call("Signal", false, "\"node\":\"%s\",\"signal\":\"%s\"", w->first, w->second);
}

/* Of several runs, any. */
static struct row *find_main(const char *path)
{
	struct row *found = NULL;

	for (size_t i = 0; i < kernel.n_rows; i++)
		if (kernel.rows[i].state == ROW_RUNNING &&
		    kernel.rows[i].program.role == ROLE_MAIN && row_is_of(&kernel.rows[i], path) &&
		    (!found || kernel_random(2)))
			found = &kernel.rows[i];
	return found;
}

static void operation_crash(const struct words *w)
{
	struct row *row = find_main(w->first);
	int signo = atoi(w->second);

	if (row)
		kernel_end(row, signo, signo ? signo : 1);
}

static void operation_exit(const struct words *w)
{
	struct row *row = find_main(w->first);

	if (row)
		kernel_end(row, false, 0);
}

static void operation_notify(const struct words *w)
{
	const struct row *row = find_main(w->first);

	run_facts.ending |= strcmp(w->rest, "STOPPING=1") == 0;
	if (row)
		system_send_message(row->notify, w->rest, row->pid);
}

static void operation_fault(const struct words *w)
{
	static const struct {
		const char *name;
		enum fault fault;
	} kinds[] = {
		{ "spawn", FAULT_SPAWN },   { "exec", FAULT_EXEC },   { "kill", FAULT_KILL },
		{ "open", FAULT_OPEN },	    { "group", FAULT_GROUP }, { "enter", FAULT_ENTER },
		{ "watch", FAULT_WATCH },   { "send", FAULT_SEND },   { "memory", FAULT_MEMORY },
		{ "accept", FAULT_ACCEPT }, { "read", FAULT_READ },   { "socket", FAULT_SOCKET },
		{ "poll", FAULT_POLL },	    { "timer", FAULT_TIMER }, { "write", FAULT_WRITE },
		{ "list", FAULT_LIST },
	};
	unsigned n = 1, skip = 0;
	int error = 0;

	(void)sscanf(w->rest, "%d %u %u", &error, &n, &skip);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].name, w->first) == 0)
			kernel_fault(kinds[i].fault, error, n, skip);
	run_facts.faults = true;
	run_facts.no_descriptors |= error == EMFILE;
}

static void operation_clock(const struct words *w)
{
	system_set_clock(atoll(w->first) * (int64_t)USEC_PER_SEC);
}

static void operation_shortage(const struct words *w)
{
	kernel_shorten_memory(strtoull(w->first, NULL, 10) * USEC_PER_MSEC);
}

static void operation_expect(const struct words *w)
{
	const struct node *node = run_facts.tree ? tree_find(run_facts.tree, w->first) : NULL;
	const char *state = node && node->service ? fsm_state_name(node->service->state) : "none";

	if (strcmp(state, w->second) != 0)
		run_fail("expected", "%s is %s, expected: %s", w->first, state, w->second);
}

static void operation_enable(const struct words *w)
{
	(void)call("Enable", false, "\"node\":\"%s\"", w->first);
}

static void operation_disable(const struct words *w)
{
	(void)call("Disable", false, "\"node\":\"%s\"", w->first);
}

/* 0 instances: as many as in the file. */
static void operation_scale(const struct words *w)
{
	if (strcmp(w->second, "0") == 0)
		(void)call("Scale", false, "\"template\":\"%s\"", w->first);
	else
		(void)call("Scale", false, "\"template\":\"%s\",\"instances\":%s", w->first,
			   w->second);
}

static void operation_look(const struct words *w)
{
	static const char *const methods[] = { "Status", "Guards", "Plan", "Show", "Dependencies" };

	(void)call(methods[kernel_random(ARRAY_SIZE(methods))], false, "\"node\":\"%s\"", w->first);
}

static void operation_run(const struct words *w)
{
	(void)call("Run", false, "\"node\":\"%s\",\"command\":[\"main\"],\"properties\":[\"%s\"]",
		   w->first, w->rest);
}

static void operation_short(const struct words *w)
{
	(void)w;
	short_begin();
}

/* The daemon has a fault, now or after some changes. */
static void operation_die(const struct words *w)
{
	unsigned n = (unsigned)strtoul(w->first, NULL, 10);

	if (n == 0)
		run_die();
	run_die_at(n);
}

void operations_carry_out(const struct history *history, const char *line)
{
	static const struct {
		const char *name;
		void (*fn)(const struct words *words);
	} operations[] = {
		{ "start", operation_start },
		{ "stop", operation_stop },
		{ "restart", operation_restart },
		{ "shutdown", operation_shutdown },
		{ "extend", operation_extend },
		{ "hold", operation_hold },
		{ "wait", operation_wait },
		{ "reload", operation_reload },
		{ "hangup-signal", operation_hangup },
		{ "rollout", operation_rollout },
		{ "rehearse", operation_rehearse },
		{ "undo", operation_undo },
		{ "continue", operation_continue },
		{ "unconfirmed-reload", operation_unconfirmed_reload },
		{ "confirm", operation_confirm },
		{ "guard", operation_guard },
		{ "sleep", operation_sleep },
		{ "release", operation_release },
		{ "leave", operation_leave },
		{ "leave-all", operation_leave_all },
		{ "signal", operation_signal },
		{ "crash", operation_crash },
		{ "exit", operation_exit },
		{ "notify", operation_notify },
		{ "fault", operation_fault },
		{ "back", operation_back },
		{ "unconfirmed", operation_unconfirmed },
		{ "clock", operation_clock },
		{ "shortage", operation_shortage },
		{ "expect", operation_expect },
		{ "enable", operation_enable },
		{ "disable", operation_disable },
		{ "scale", operation_scale },
		{ "look", operation_look },
		{ "run", operation_run },
		{ "short", operation_short },
		{ "die", operation_die },
	};
	struct words words = { .history = history, .rest = "" };
	char name[WORD] = "";
	int at = 0;

	(void)sscanf(line, "%63s %63s %n%63s", name, words.first, &at, words.second);
	if (at > 0)
		words.rest = line + at;
	if (strcmp(words.first, "/") == 0)
		*words.first = '\0';
	run_facts.operations |= *name != '\0';
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (strcmp(operations[i].name, name) == 0)
			operations[i].fn(&words);
}
