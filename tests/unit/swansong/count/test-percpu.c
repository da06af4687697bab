/*
 * The behaviour that is special about nodes that count their guards for each processor apart.  The
 * tests of nodes, guards, completions, interrupts and reports, and the property test, are also run
 * with such nodes only (percpu-nodes.h).
 *
 * Every loop is with restartable sequences, where there are any, and without.
 */
#include "tests/unit/fixtures/swansong/pair.h"
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "swansong/count/count-private.h"

enum { AS_IT_IS, LOCKED, N_KINDS };

static void spread(struct swansong *s, int kind)
{
	ck_assert_int_eq(swansong_percpu_enable(s), 0);
	ck_assert_uint_eq(s->entry, COUNT_FROM_CPU);
	if (kind == LOCKED)
		s->percpu->rseq = false;
}

START_TEST(guards_of_such_a_node_leave_its_home_alone)
{
	struct swansong_guard g;
	uint64_t home;

	spread(root, _i);
	home = root->home;
	g = swansong_guard(root);
	ck_assert_uint_eq(root->home, home);
	ck_assert_uint_eq(swansong_guard_count(root), 1);
	swansong_guard_drop(&g);
	ck_assert_uint_eq(root->home, home);
	ck_assert_uint_eq(swansong_guard_count(root), 0);
}
END_TEST

START_TEST(guards_of_a_stopped_node_leave_its_home_alone)
{
	struct swansong_guard g;
	uint64_t home;

	if (_i == AS_IT_IS)
		spread(root, _i);
	swansong_shut_down(root);
	home = root->home;
	g = swansong_guard(root);
	ck_assert_uint_eq(root->home, home);
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	swansong_guard_drop(&g);
	ck_assert_uint_eq(root->home, home);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

START_TEST(enabling_it_too_late_changes_nothing)
{
	struct percpu *percpu;

	spread(root, _i);
	percpu = root->percpu;
	ck_assert_int_eq(swansong_percpu_enable(root), 0);
	ck_assert_ptr_eq(root->percpu, percpu);

	ck_assert_int_eq(swansong_report_enable(root), 0);
	ck_assert_int_eq(swansong_percpu_enable(child), 0);
	ck_assert_ptr_null(child->percpu);

	swansong_shut_down(root);
	ck_assert_int_eq(swansong_percpu_enable(child), 0);
	ck_assert_ptr_null(child->percpu);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

/* The phases of a node; a report has it count plainly again. */
enum { PLAIN, SPREAD, REPORTED, STOPPED, N_PHASES };

static void enter_phase(int phase, int kind)
{
	if (phase == SPREAD)
		spread(child, kind);
	else if (phase == REPORTED)
		ck_assert_int_eq(swansong_report_enable(root), 0);
	else if (phase == STOPPED)
		swansong_shut_down(root);
}

/* A guard for each pair of phases: taken in one, and dropped in that or a later one. */
START_TEST(a_guard_may_be_taken_in_any_phase_and_dropped_in_any_later)
{
	struct swansong_guard g[N_PHASES][N_PHASES] = { 0 };
	uint64_t held = 0;

	for (int phase = 0; phase < N_PHASES; phase++) {
		enter_phase(phase, _i);
		for (int later = phase; later < N_PHASES; later++, held++)
			g[phase][later] = swansong_guard(child);
		ck_assert_uint_eq(swansong_guard_count(root), held);
		for (int earlier = 0; earlier <= phase; earlier++, held--) {
			ck_assert_uint_eq(swansong_guard_count(root), held);
			ck_assert_int_ne(swansong_state(root), SWANSONG_COMPLETE);
			swansong_guard_drop(&g[earlier][phase]);
		}
		ck_assert_uint_eq(swansong_guard_count(root), held);
	}
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

/* Returns false if this process may not run there. */
static bool move_to(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

START_TEST(a_guard_may_be_dropped_on_any_processor)
{
	struct swansong_guard g[64];
	unsigned int taken = 0;
	cpu_set_t before;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	spread(child, _i);
	for (unsigned int cpu = 0; cpu < ARRAY_SIZE(g); cpu++)
		if (move_to(cpu))
			g[taken++] = swansong_guard(child);
	ck_assert_uint_eq(swansong_guard_count(root), taken);
	for (unsigned int cpu = ARRAY_SIZE(g), i = 0; cpu-- > 0 && i < taken / 2;)
		if (move_to(cpu))
			swansong_guard_drop(&g[i++]);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
	ck_assert_uint_eq(swansong_guard_count(root), taken - taken / 2);
	swansong_shut_down(root);
	ck_assert_uint_eq(swansong_guard_count(root), taken - taken / 2);
	for (unsigned int i = taken / 2; i < taken; i++) {
		ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
		swansong_guard_drop(&g[i]);
	}
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

START_TEST(a_guard_keeps_such_a_node_when_nothing_else_does)
{
	struct swansong_interrupt *interrupt;
	struct swansong_guard g, clone;

	spread(child, _i);
	ck_assert_int_eq(swansong_interrupt_new(child, &interrupt), 0);
	g = swansong_guard(child);
	child = swansong_unref(child);
	clone = swansong_guard_clone(&g);
	swansong_guard_drop(&g);
	ck_assert_uint_eq(swansong_guard_count(root), 1);
	ck_assert(!swansong_interrupted(interrupt));
	swansong_guard_drop(&clone);
	ck_assert(swansong_interrupted(interrupt));
	ck_assert_uint_eq(swansong_guard_count(root), 0);
	swansong_interrupt_unref(interrupt);
}
END_TEST

/* ---- many threads ---- */

#define THREADS 6
#define TURNS	20000

static struct swansong_guard handed[THREADS]; /* taken by a thread, dropped by another */

static void *take_and_drop(void *arg)
{
	struct swansong_guard *last = arg;

	for (unsigned int i = 0; i < TURNS; i++) {
		struct swansong_guard g = swansong_guard(child);
		struct swansong_guard clone = swansong_guard_clone(&g);

		swansong_guard_drop(&g);
		swansong_guard_drop(&clone);
	}
	*last = swansong_guard(child);
	return NULL;
}

START_TEST(many_threads_and_a_stop_lose_no_guard)
{
	pthread_t threads[THREADS];

	spread(child, _i % N_KINDS);
	for (unsigned int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, take_and_drop, &handed[i]), 0);
	if (_i < N_KINDS)
		swansong_shut_down(root);
	for (unsigned int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_uint_eq(swansong_guard_count(root), THREADS);
	swansong_shut_down(root);
	for (unsigned int i = 0; i < THREADS; i++) {
		ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
		swansong_guard_drop(&handed[i]);
	}
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

/* ---- a sequence that is interrupted ---- */

static struct {
	void *slots;
	size_t size;
	volatile sig_atomic_t faults;
} mapped;

static void on_fault(int signo)
{
	(void)signo;
	mapped.faults++;
	(void)mprotect(mapped.slots, mapped.size, PROT_READ | PROT_WRITE);
}

/* The store of the sequence finds the slots write-protected: the signal comes in its midst. */
START_TEST(a_sequence_that_is_interrupted_begins_again_and_adds_once)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint32_t n = processor_count();
	char *memory;
	struct percpu *p;
	uint64_t before;

	mapped.size = (n * sizeof(struct percpu_slot) + page - 1) / page * page;
	memory = mmap(NULL, page + mapped.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	mapped.slots = memory + page;
	p = (void *)(memory + page - offsetof(struct percpu, slot));
	p->n = n;
	p->rseq = rseq_is_there();

	if (p->rseq) {
		before = percpu_sum(p);
		ck_assert_ptr_ne(signal(SIGSEGV, on_fault), SIG_ERR);
		ck_assert_int_eq(mprotect(mapped.slots, mapped.size, PROT_READ), 0);
		ck_assert(percpu_add(p, 5));
		ck_assert_ptr_ne(signal(SIGSEGV, SIG_DFL), SIG_ERR);
		ck_assert_int_eq(mapped.faults, 1);
		ck_assert_uint_eq(percpu_sum(p) - before, 5);
	}
	(void)munmap(memory, page + mapped.size);
}
END_TEST

/* The word that the kernel reads if this thread is preempted, perhaps after dlclose(3). */
static uint64_t sequence_of_thread(void)
{
#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
	const struct rseq *self = (void *)((char *)__builtin_thread_pointer() + __rseq_offset);

	return __rseq_size > 0 ? self->rseq_cs : 0;
#else
	return 0;
#endif
}

START_TEST(a_sequence_leaves_nothing_behind_whether_it_adds_or_is_refused)
{
	struct swansong_guard g;

	spread(child, _i);
	g = swansong_guard(child);
	ck_assert_uint_eq(sequence_of_thread(), 0);
	shared_store(&child->percpu->closed, 1, relaxed);
	(void)percpu_add(child->percpu, COUNT_GUARD);
	ck_assert_uint_eq(sequence_of_thread(), 0);
	shared_store(&child->percpu->closed, 0, relaxed);
	if (!child->percpu->rseq)
		(void)percpu_add(child->percpu, -COUNT_GUARD);
	swansong_guard_drop(&g);
}
END_TEST

/* ---- other processes ---- */

/* Returns whether @body returned true in a child process. */
static bool in_child(bool (*body)(int kind), int kind)
{
	int status = -1;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(body(kind) ? EXIT_SUCCESS : EXIT_FAILURE);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static struct swansong_guard before_fork;

static bool goes_on(int kind)
{
	struct swansong_guard g = swansong_guard(child);
	bool ok;

	(void)kind;
	ok = swansong_guard_count(root) == 2;
	swansong_shut_down(root);
	swansong_guard_drop(&before_fork);
	ok &= swansong_state(root) == SWANSONG_SHUTTING_DOWN;
	swansong_guard_drop(&g);
	return ok && swansong_state(root) == SWANSONG_COMPLETE;
}

START_TEST(both_sides_of_a_fork_go_on_counting)
{
	spread(child, _i);
	before_fork = swansong_guard(child);
	ck_assert(in_child(goes_on, _i));
	ck_assert_uint_eq(swansong_guard_count(root), 1);
	ck_assert(goes_on(_i));
}
END_TEST

/* From now on membarrier(2) fails. */
static bool refuse_membarrier(int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = ARRAY_SIZE(filter), .filter = filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static const int refusals[] = { ENOSYS, EPERM };

static bool refused_before(int i)
{
	if (!refuse_membarrier(refusals[i]))
		return true; /* a machine without filters */
	if (swansong_percpu_enable(child) < 0 || child->percpu->rseq)
		return false;
	before_fork = swansong_guard(child);
	return goes_on(i);
}

static bool refused_after(int i)
{
	if (swansong_percpu_enable(child) < 0 || !refuse_membarrier(refusals[i]))
		return true;
	before_fork = swansong_guard(child);
	return goes_on(i);
}

START_TEST(a_filter_that_refuses_membarrier_does_no_harm)
{
	ck_assert(in_child(refused_before, _i));
	ck_assert(in_child(refused_after, _i));
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-percpu");
	TCase *tc = tcase_create("percpu");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_pair, drop_pair);
	tcase_add_loop_test(tc, guards_of_such_a_node_leave_its_home_alone, 0, N_KINDS);
	tcase_add_loop_test(tc, guards_of_a_stopped_node_leave_its_home_alone, 0, N_KINDS);
	tcase_add_loop_test(tc, enabling_it_too_late_changes_nothing, 0, N_KINDS);
	tcase_add_loop_test(tc, a_guard_may_be_taken_in_any_phase_and_dropped_in_any_later, 0,
			    N_KINDS);
	tcase_add_loop_test(tc, a_guard_may_be_dropped_on_any_processor, 0, N_KINDS);
	tcase_add_loop_test(tc, a_guard_keeps_such_a_node_when_nothing_else_does, 0, N_KINDS);
	tcase_add_loop_test(tc, many_threads_and_a_stop_lose_no_guard, 0, 2 * N_KINDS);
	tcase_add_test(tc, a_sequence_that_is_interrupted_begins_again_and_adds_once);
	tcase_add_loop_test(tc, a_sequence_leaves_nothing_behind_whether_it_adds_or_is_refused, 0,
			    2);
	tcase_add_loop_test(tc, both_sides_of_a_fork_go_on_counting, 0, N_KINDS);
	tcase_add_loop_test(tc, a_filter_that_refuses_membarrier_does_no_harm, 0,
			    ARRAY_SIZE(refusals));
	suite_add_tcase(suite, tc);
	return suite;
}
