/* What contrib/cpp/swansong.hpp promises; run by tests/lint/cpp.sh. */
#include <swansong/swansong.hpp>
#include <swansong/swansong.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <thread>
#include <type_traits>
#include <utility>

static bool next_is_refused;

/* That of the library, too. */
extern "C" void *__libc_malloc(size_t size);
extern "C" void *malloc(size_t size) noexcept
{
	return std::exchange(next_is_refused, false) ? nullptr : __libc_malloc(size);
}

template <class T> constexpr bool moves_only()
{
	return std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
	       std::is_nothrow_swappable_v<T> && !std::is_copy_constructible_v<T> &&
	       !std::is_copy_assignable_v<T>;
}

static_assert(moves_only<swan::completion>());
static_assert(moves_only<swan::node>() && moves_only<swan::guard>() &&
	      moves_only<swan::interrupt>());
static_assert(sizeof(swan::node) == sizeof(void *) &&
	      sizeof(swan::guard) == sizeof(struct swansong_guard) &&
	      sizeof(swan::interrupt) == sizeof(void *));

static int number;

static void is(bool done, const char *what)
{
	std::printf("%s %d - %s\n", done ? "ok" : "not ok", ++number, what);
}

static void guards_end_with_their_scope()
{
	swan::node root, other;
	{
		swan::guard one(root), two = one.clone(), none, copy = none.clone();

		is(root.guard_count() == 2 && one && two && !none && !copy, "guards are held");
		none = std::move(one);
		is(root.guard_count() == 2 && none && !one, "a guard that moves stays held");
		none = swan::guard(other);
		is(root.guard_count() == 1 && other.guard_count() == 1,
		   "a guard that is assigned to is dropped");
		swan::guard &same = none;
		none = std::move(same);
		is(other.guard_count() == 1, "one that is assigned to itself stays");
		two.drop();
		two.drop();
		is(root.guard_count() == 0 && !two, "a guard is dropped once");
	}
	is(other.guard_count() == 0, "guards are dropped at the end of the scope");
	try {
		swan::guard guard(root);

		throw 1;
	} catch (int) {
		is(root.guard_count() == 0, "and by an exception");
	}
}

static void nodes_are_references()
{
	swan::interrupt *stop;
	{
		swan::node root, child = root.child(), same = child.ref();

		stop = new swan::interrupt(root);
		is(same == child && child != root, "nodes are compared");
		child = std::move(same);
		is(!same && child, "a node that was moved from is empty");
		child.shut_down();
		is(child.state() == SWANSONG_COMPLETE && root.state() == SWANSONG_RUNNING,
		   "a child is stopped alone");
		is(child.is_complete() && root.is_running() && !root.is_complete() &&
			   !child.is_running() && !child.is_shutting_down(),
		   "each state has a question of its own");
		is(!stop->interrupted(), "the root runs");
	}
	is(stop->interrupted(), "the last reference to a root stops it");
	delete stop;
}

static void waits_have_deadlines()
{
	swan::node root;
	swan::guard guard(root);
	swan::interrupt stop(root), with(root, swan::guarded);
	struct pollfd p = { stop.fd(), POLLIN, 0 };

	is(!stop.wait_for(std::chrono::milliseconds(2)) && poll(&p, 1, 0) == 0, "no stop in time");
	is(root.guard_count() == 2, "an interrupt may hold a guard");
	root.shut_down();
	stop.wait();
	is(stop.wait_for(std::chrono::hours::max()) && poll(&p, 1, 0) == 1, "the stop");
	is(!root.wait_until(swan::time_point::min()), "a deadline that has passed");
	std::thread thread([held = std::move(guard), with = std::move(with)]() mutable {
		std::this_thread::sleep_for(std::chrono::milliseconds(5));
		held.drop();
		swan::interrupt ended = std::move(with);
	});
	root.wait();
	is(root.wait_until(swan::time_point::max()) && root.state() == SWANSONG_COMPLETE,
	   "it is complete");
	thread.join();
}

static void faults_are_exceptions()
{
	const swan::node root;
	bool thrown = false;

	next_is_refused = true;
	try {
		swan::node child = root.child();
	} catch (const std::system_error &e) {
		thrown = e.code() == std::errc::not_enough_memory &&
			 std::strstr(e.what(), "swansong_child");
	}
	is(thrown, "a fault is a system_error that names the function");
}

static void places_are_those_of_the_program()
{
	const swan::node root;
	struct swansong_report *report = nullptr;

	is(swansong_report_enable(root.get()) == 0, "the report is on");
	swan::guard guard(root);
	const unsigned int line = __LINE__ - 1;
	is(swansong_report(root.get(), &report) == 0 && report->n == 1 &&
		   report->sites[0].line == line &&
		   std::strcmp(report->sites[0].function, __func__) == 0,
	   "the report knows where a guard was taken");
	swansong_report_free(report);
}

static void functions_are_called_once()
{
	swan::node root;
	int ended = 0, stopped = 0;
	{
		swan::completion end(root);
		const swan::stop_callback stop(root, [&] { stopped++; });
		swan::stop_callback(root, [&] { stopped += 100; });

		end.on_complete([&] {
			ended++;
			swan::completion dropped(std::move(end));
		});
		swan::guard work(root);
		root.shut_down();
		is(stopped == 1 && ended == 0, "a function is called at the stop");
		work.drop();
		is(ended == 1 && !end,
		   "a function is called at the end, and may drop its completion");
	}
	swan::completion late(root);
	is(late.done() && late.wait_for(std::chrono::seconds(0)), "a completion resolves");
#ifdef __cpp_lib_jthread
	swan::node other;
	const swan::stop_bridge bridge(other);
	const std::stop_token token = bridge.token();
	is(!token.stop_requested(), "a token runs with its node");
	other.shut_down();
	is(token.stop_requested(), "a token stops with its node");
#endif
}

static void an_exception_in_a_function_terminates()
{
	std::set_terminate([] { std::_Exit(7); });
	const pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		swan::node root;
		const swan::stop_callback stop(root, [] { throw 1; });
		try {
			root.shut_down();
		} catch (int) {
		}
		std::_Exit(1);
	}
	is(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7,
	   "an exception in a function terminates");
}

static void a_registry_calls_its_functions()
{
	swan::node root;
	swan::guard work(root);
	swan::registry registry;
	std::string story;
	int failed = 0;
	swan::time_point again = {};
	const auto report = [&story](enum swansong_registry_step, const char *name,
				     std::error_code error) {
		story += std::string("!") + name + (error == std::errc::timed_out ? " late" : "");
	};

	registry.add_action("log", [&story] { story += "log "; });
	registry.add_action("files", [] { throw std::system_error(EIO, std::generic_category()); });
	registry.add_worker("root", root);
	is(!registry.advance(swan::time_point::max(), again, failed, report) &&
		   again == swan::time_point::max() && root.state() == SWANSONG_SHUTTING_DOWN,
	   "a registry does not wait for a node");
	work.drop();
	is(registry.advance(swan::time_point::max(), again, failed, report) && failed == 1 &&
		   story == "!fileslog ",
	   "a registry advances to its end, and an exception is a failure");

	swan::registry other;
	swan::node busy;
	const swan::guard held(busy);
	story.clear();
	other.add_worker("busy", busy, std::chrono::microseconds(1));
	is(other.execute(swan::time_point::max(), report) == 1 && story == "!busy late",
	   "a late worker is named");
}

static void a_pool_runs_its_jobs()
{
	swan::node root;
	const swan::pool pool(root, 2);
	std::atomic<int> jobs{ 0 };
	bool accepted = true;

	for (int i = 0; i < 100; i++)
		accepted = pool.submit([&jobs] { jobs++; }) && accepted;
	is(accepted && pool.wait_idle_until(swan::time_point::max()) && jobs == 100,
	   "a pool runs its jobs");
	pool.stop();
	is(!pool.submit([&jobs] { jobs++; }) && jobs == 100, "and refuses them after the stop");
}

int main()
{
	a_registry_calls_its_functions();
	a_pool_runs_its_jobs();
	guards_end_with_their_scope();
	nodes_are_references();
	waits_have_deadlines();
	faults_are_exceptions();
	places_are_those_of_the_program();
	functions_are_called_once();
	an_exception_in_a_function_terminates();
	is(swan::node::attached().state() == SWANSONG_RUNNING, "without a daemon there is a root");
	return 0;
}
