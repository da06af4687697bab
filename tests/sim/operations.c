/*
 * A table has a function for each operation.  A rollout is a client that sends its next call when it has
 * the reply to the last one.
 */
#include "tests/sim/operations.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "tests/sim/client.h"
#include "tests/sim/kernel.h"
#include "tests/sim/run.h"
#include "tests/sim/system.h"

#define WORD 64

struct words {
	const struct history *history;
	char first[WORD], second[WORD];
	const char *rest; /* from the second word on */
};

static struct client *slots[SLOTS];
static struct {
	struct client *client; /* NULL: none */
	char path[WORD];
	int step;
} rollout;
static struct client *reloader; /* of operations_reload() */
static char *texts[64];
static size_t n_texts;

void operations_init(void)
{
	memset(slots, 0, sizeof(slots));
	rollout.client = reloader = NULL;
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

	run_facts.forced |= force;
	(void)call("Shutdown", false, "\"node\":\"%s\"%s", w->first,
		   force ? ",\"force\":true" : "");
}

static void operation_wait(const struct words *w)
{
	char until[WORD] = "ready", stay[WORD] = "";

	(void)sscanf(w->rest, "%63s %63s", until, stay);
	(void)call("Wait", false, "\"node\":\"%s\",\"until\":\"%s\"%s", w->first, until,
		   *stay ? ",\"stay\":true,\"settle_usec\":1000000" : "");
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

bool operations_reload(const struct history *history, const char *name)
{
	struct words w = { .history = history };

	(void)snprintf(w.first, sizeof(w.first), "%s", name);
	if ((reloader && reloader->failed) || !use_config(&w))
		return false;
	reloader = call("Reload", false, "%s", "");
	return reloader;
}

static void operation_back(const struct words *w)
{
	(void)snprintf(run_facts.back[0], sizeof(run_facts.back[0]), "%.7s", w->first);
	(void)snprintf(run_facts.back[1], sizeof(run_facts.back[1]), "%.7s", w->second);
}

static void operation_hangup(const struct words *w)
{
	if (use_config(w))
		kernel_notify_daemon(SIGHUP, 0);
}

static void operation_rollout(const struct words *w)
{
	if (rollout.client || !use_config(w))
		return;
	rollout.client = call("Reload", false, "\"rollout\":\"begin\"");
	rollout.step = 0;
	(void)snprintf(rollout.path, sizeof(rollout.path), "%s", w->second);
}

static void operation_undo(const struct words *w)
{
	(void)w;
	(void)call("Reload", false, "\"rollout\":\"undo\"");
}

static void rollout_go_on(void)
{
	struct client *c = rollout.client;
	char parameters[200];

	if (!c || (c->waits && c->state != CLIENT_DROPPED))
		return;
	if (c->failed || c->state != CLIENT_CONNECTED || rollout.step == 2) {
		rollout.client = NULL;
		return;
	}
	(void)snprintf(parameters, sizeof(parameters),
		       rollout.step == 0 ? "\"node\":\"%s\",\"wait\":false"
					 : "\"node\":\"%s\",\"until\":\"ready\",\"stay\":true,"
					   "\"settle_usec\":1000000",
		       rollout.path);
	client_call(c, rollout.step == 0 ? "Restart" : "Wait", parameters, false);
	rollout.step++;
}

void operations_update(void)
{
	rollout_go_on();
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

static void operation_release(const struct words *w)
{
	struct client **slot = find_slot(w);

	if (slot && *slot && (*slot)->state == CLIENT_CONNECTED && !(*slot)->waits)
		client_call(*slot, "Release", "\"why\":\"sim\"", false);
}

static void operation_leave_all(const struct words *w)
{
	(void)w;
	for (unsigned i = 0; i < CLIENTS_MAX; i++)
		client_leave(client_at(i));
	memset(slots, 0, sizeof(slots));
	rollout.client = NULL;
}

void operations_calm(void)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (slots[i])
			client_leave(slots[i]);
	memset(slots, 0, sizeof(slots));
}

static void operation_signal(const struct words *w)
{
	(void)call("Signal", false, "\"node\":\"%s\",\"signal\":\"%s\"", w->first, w->second);
}

static struct row *find_main(const char *path)
{
	for (size_t i = 0; i < kernel.n_rows; i++)
		if (kernel.rows[i].state == ROW_RUNNING &&
		    kernel.rows[i].program.role == ROLE_MAIN &&
		    strcmp(kernel.rows[i].node, path) == 0)
			return &kernel.rows[i];
	return NULL;
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

/* The daemon has a fault. */
static void operation_die(const struct words *w)
{
	(void)w;
	run_die();
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
		{ "wait", operation_wait },
		{ "reload", operation_reload },
		{ "hangup-signal", operation_hangup },
		{ "rollout", operation_rollout },
		{ "undo", operation_undo },
		{ "guard", operation_guard },
		{ "release", operation_release },
		{ "leave", operation_leave },
		{ "leave-all", operation_leave_all },
		{ "signal", operation_signal },
		{ "crash", operation_crash },
		{ "exit", operation_exit },
		{ "notify", operation_notify },
		{ "fault", operation_fault },
		{ "back", operation_back },
		{ "clock", operation_clock },
		{ "expect", operation_expect },
		{ "enable", operation_enable },
		{ "disable", operation_disable },
		{ "look", operation_look },
		{ "run", operation_run },
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
