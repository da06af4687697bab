/*
 * The daemon runs as a whole: daemon_run() is called, and asks the world for events until its tree has
 * ended.  The operations of the history come in between.  After the last one the world becomes calm:
 * programs behave, guards are released, and nothing fails any more.  When time has shown that nothing
 * more happens, the promises about rest are checked; then the daemon is asked to end.
 *
 * A promise that does not hold leaves daemon_run() by a jump, and its memory is lost.  So does a fault of
 * the daemon, after which it is called again with what the next image has.
 */
#include "tests/sim/run.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "daemon/main/options.h"
#include "daemon/main/update.h"
#include "tests/sim/client.h"
#include "tests/sim/descriptors.h"
#include "tests/sim/kernel.h"
#include "tests/sim/operations.h"
#include "tests/sim/promises.h"
#include "tests/sim/short.h"
#include "tests/sim/system.h"

/* The world is calm for so long, which is no multiple of a drawn schedule. */
#define REST_USEC (1700 * USEC_PER_SEC)
#define TURNS_MAX 60000

enum left { LEFT_BY_FAILURE = 1, LEFT_BY_FAULT };
enum phase { PHASE_OPERATIONS, PHASE_CALM, PHASE_END };

pid_t __real_fork(void);

struct run_facts run_facts;

static struct {
	const struct history *history;
	enum phase phase;
	size_t next; /* operation */
	uint64_t next_usec;
	uint64_t until_usec; /* of the phase */
	unsigned turns;
	unsigned reloads; /* of run_turn_back() */
	unsigned early;	  /* services that were killed early */
	unsigned dies_at; /* 0: not */
	struct failure *failure;
	jmp_buf out;
} run;

void run_fail(const char *promise, const char *format, ...)
{
	va_list ap;

	(void)snprintf(run.failure->promise, sizeof(run.failure->promise), "%s", promise);
	va_start(ap, format);
	(void)vsnprintf(run.failure->text, sizeof(run.failure->text), format, ap);
	va_end(ap);
	longjmp(run.out, LEFT_BY_FAILURE);
}

/* Sets the time of the next operation. */
static void run_prepare_next(void)
{
	const char *line = run.next < run.history->n ? run.history->lines[run.next] : "";
	uint64_t pause = *line == '+' ? strtoull(line + 1, NULL, 10) : 0;

	run.next_usec = kernel.now_usec + pause * USEC_PER_MSEC;
}

void run_die(void)
{
	run_facts.died = true;
	promises_note_fault();
	run_facts.tree = NULL;
	run_facts.rollout = NULL;
	memset(kernel.faults, 0, sizeof(kernel.faults)); /* they are for the image that has ended */
	run_prepare_next();
	system_die();
	longjmp(run.out, LEFT_BY_FAULT);
}

void run_die_at(unsigned n)
{
	run.dies_at = n;
}

void run_note_change(void)
{
	if (run.dies_at > 0 && --run.dies_at == 0)
		run_die();
}

void __real_update_turn(struct update *update);
void __wrap_update_turn(struct update *update);
void __wrap_update_turn(struct update *update)
{
	run_facts.tree = update->tree;
	run_facts.rollout = update->reload ? update->reload->rollout : NULL;
	__real_update_turn(update);
}

static void run_become_calm(void)
{
	run.phase = PHASE_CALM;
	run.dies_at = 0;
	run.until_usec = kernel.now_usec + REST_USEC;
	kernel.calm = true;
	kernel.shortage_usec = KERNEL_NEVER;
	memset(kernel.faults, 0, sizeof(kernel.faults));
	operations_calm();
}

/* Reloads to one configuration, to another one, and back, or waits for the way back.  Returns true while that goes on. */
static bool run_turn_back(void)
{
	const char *const *back =
		(const char *const[]){ run_facts.back[0], run_facts.back[1], run_facts.back[0] };
	bool unconfirmed = run_facts.unconfirmed;

	if (!*back[0] || run.reloads > 3)
		return false;
	if (run.reloads == 1)
		promises_note();
	if (run.reloads == 2 && unconfirmed)
		promises_note_untouched();
	if (run.reloads == 3)
		promises_check_noted(strcmp(back[0], back[1]) == 0);
	run.reloads++;
	if (unconfirmed && run.reloads == 3 && operations_is_reloaded()) {
		run.until_usec = kernel.now_usec + REST_USEC;
		return true;
	}
	if (run.reloads == 4 ||
	    !operations_reload(run.history, back[run.reloads - 1],
			       unconfirmed && run.reloads == 2 ? REST_USEC * 3 / 2 : 0)) {
		run.reloads = 4;
		return false;
	}
	run.until_usec = kernel.now_usec + REST_USEC;
	return true;
}

static void run_end(void)
{
	promises_check_rest();
	if (run_turn_back())
		return;
	run.phase = PHASE_END;
	run.until_usec = kernel.now_usec + REST_USEC;
	kernel_notify_daemon(SIGTERM, 0);
}

static void run_operate(void)
{
	const char *line;

	if (run.phase != PHASE_OPERATIONS || kernel.now_usec < run.next_usec)
		return;
	if (run.next >= run.history->n) {
		run_become_calm();
		return;
	}
	line = run.history->lines[run.next++];
	if (*line == '+')
		line += strcspn(line, " ");
	line += strspn(line, " ");
	operations_carry_out(run.history, line);
	run_prepare_next();
}

static void run_on_rest(void)
{
	const struct tree *tree = run_facts.tree;

	/* Its last call of Shutdown may have been processed after that of operations_calm(). */
	if (run.phase == PHASE_CALM && tree && tree->ctx->held_usec) {
		operations_calm();
		run.until_usec = kernel.now_usec + REST_USEC;
	} else if (run.phase == PHASE_CALM)
		run_end();
	else if (run.phase == PHASE_END)
		run_fail("end", "the daemon does not end");
}

static void run_on_time(void)
{
	run_operate();
	if (run.phase != PHASE_OPERATIONS && kernel.now_usec >= run.until_usec)
		run_on_rest();
}

static uint64_t run_next_usec(void)
{
	return run.phase == PHASE_OPERATIONS ? run.next_usec : run.until_usec;
}

static void run_on_turn(void)
{
	if (++run.turns > TURNS_MAX)
		run_fail("quiet", "the daemon does not come to rest");
	promises_check_turn();
	run_operate();
}

static const struct system_driver driver = {
	.on_turn = run_on_turn,
	.next_usec = run_next_usec,
	.on_time = run_on_time,
	.on_rest = run_on_rest,
};

static void run_check_end(int status)
{
	for (size_t i = 0; i < kernel.n_rows; i++)
		if (row_is_alive(&kernel.rows[i]) && kernel.rows[i].program.role != ROLE_OTHER)
			run_fail("end", "pid %d of %s outlives the daemon", kernel.rows[i].pid,
				 kernel.rows[i].node);
	if (descriptors_count() > 0)
		run_fail("descriptors", "%u descriptors are open at the end", descriptors_count());
	if (status != 0 && run.phase == PHASE_END && !run_facts.faults && status != 124 &&
	    status > 128)
		run_fail("status", "the exit status is %d", status);
}

static void run_daemon(void)
{
	static const char *const paths[] = { SYSTEM_CONFIG };
	struct log log;
	const struct daemon_options options = {
		.paths = paths,
		.n_paths = 1,
		.trust = true,
		.socket = "@sim",
		.log = &log,
	};
	int status;

	log_init(&log, "sim", LOG_DEBUG);
	if (!getenv("SIM_LOG")) {
		log.fd = -1;
		log.level = LOG_EMERG;
	}
	status = daemon_run(&options);
	run_facts.tree = NULL;
	if (run.turns > 0)
		run_check_end(status);
	run.early = short_check_end();
}

static bool run_dies(const struct history *history)
{
	for (size_t i = history_operations(history); i < history->n; i++) {
		const char *word = history->lines[i];

		word += *word == '+' ? strcspn(word, " ") + 1 : 0;
		if (strncmp(word, "die", 3) == 0)
			return true;
	}
	return false;
}

static bool run_here(const struct history *history, struct failure *failure,
		     struct figures *figures)
{
	char *text = history_config(history, "");

	system_begin(run_dies(history));
	system_config = text;
	kernel_init(history->seed, history_has(history, "with groups"));
	descriptors_init();
	clients_init();
	operations_init();
	kernel_on_signal = promises_check_signal;
	system_driver = &driver;
	run.history = history;
	run.phase = PHASE_OPERATIONS;
	run.next = history_operations(history);
	run.turns = run.reloads = run.early = run.dies_at = 0;
	run.failure = failure;
	run_facts = (struct run_facts){ .tree = NULL };
	run_facts.kept = history_has(history, "kill-leftovers = no");
	*failure = (struct failure){ .promise = "" };
	promises_init();
	run_prepare_next();
	if (text && setjmp(run.out) != LEFT_BY_FAILURE)
		run_daemon();
	if (run.turns == 0)
		figures->invalid++;
	figures->histories++;
	figures->operations += run.next - history_operations(history);
	figures->turns += run.turns;
	figures->processes += (uint64_t)(kernel.last_pid - KERNEL_FIRST_PID);
	figures->faults += kernel.injected;
	figures->early += run.early;
	figures->simulated_usec += kernel.now_usec;
	free(text);
	return !*failure->promise;
}

/* In a process of its own: the memory of a daemon that dies is lost. */
static bool run_apart(const struct history *history, struct failure *failure,
		      struct figures *figures)
{
	static struct {
		struct failure failure;
		struct figures figures;
	} * result;
	int status = -1;
	pid_t pid;

	if (!result)
		result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	result->figures = *figures;
	pid = __real_fork();
	if (pid == 0) {
		(void)run_here(history, &result->failure, &result->figures);
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	*figures = result->figures;
	*failure = result->failure;
	if (status != 0)
		*failure = (struct failure){ .promise = "crash",
					     .text = "the daemon has a fault of its own" };
	return !*failure->promise;
}

bool run_history(const struct history *history, struct failure *failure, struct figures *figures)
{
	return (run_dies(history) ? run_apart : run_here)(history, failure, figures);
}
