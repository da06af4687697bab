#ifndef SWANSONG_HPP
#define SWANSONG_HPP

/*
 * libswansong for C++17: nodes, guards, completions and interrupts that end with their scope.
 *
 *	swan::node root;
 *	swan::guard work(root);                  // until the end of the scope
 *	swan::interrupt stop(root);
 *	while (!stop.interrupted()) ...
 *
 * The types can be moved and not copied; one that was moved from is empty, and only to be assigned to
 * or destroyed.  What they mean is in libswansong(3); get() gives the object of C, for functions that
 * are not here.  A fault is a std::system_error with the errno of the C function; a deadline that has
 * passed is false.  Link with: pkg-config --libs libswansong
 */

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>
#if __has_include(<stop_token>)
#include <stop_token>
#endif

#include <swansong/attach.h>
#include <swansong/completion.h>
#include <swansong/guard.h>
#include <swansong/interrupt.h>
#include <swansong/node.h>
#include <swansong/pool.h>
#include <swansong/registry.h>

namespace swan
{

using time_point = std::chrono::steady_clock::time_point; /* CLOCK_MONOTONIC */

namespace detail
{

/* Of a C function; returns what is no fault. */
inline int checked(int result, const char *function)
{
	if (result < 0)
		throw std::system_error(-result, std::generic_category(), function);
	return result;
}

/* Of one that may be late: whether it was in time. */
inline bool in_time(int result, const char *function)
{
	return result == -ETIMEDOUT ? false : (checked(result, function), true);
}

inline std::uint64_t usec(time_point deadline)
{
	using std::chrono::microseconds;
	if (deadline == time_point::max())
		return UINT64_MAX;
	const auto since = std::chrono::ceil<microseconds>(deadline.time_since_epoch()).count();

	return since > 0 ? static_cast<std::uint64_t>(since) : 0;
}

template <class Rep, class Period>
time_point after(std::chrono::duration<Rep, Period> duration)
{
	const auto now = std::chrono::steady_clock::now();

	/* A long time, as duration::max() is, has no end in this clock. */
	if (std::chrono::duration<double>(duration) > std::chrono::hours(24 * 365 * 100))
		return now + std::chrono::hours(24 * 365 * 100);
	return now + std::chrono::ceil<std::chrono::steady_clock::duration>(duration);
}

} /* namespace detail */

/* A reference to a node.  The last one to a root stops it. */
class node
{
      public:
	/* A root. */
	node() { detail::checked(swansong_new(&s_), "swansong_new"); }

	/* Takes a reference of C over. */
	explicit node(struct ::swansong *taken) noexcept : s_(taken) {}

	node(node &&other) noexcept : s_(std::exchange(other.s_, nullptr)) {}
	node &operator=(node &&other) noexcept
	{
		node moved(std::move(other));

		std::swap(s_, moved.s_);
		return *this;
	}
	node(const node &) = delete;
	node &operator=(const node &) = delete;
	~node() { swansong_unref(s_); }

	/* The root of a program that may run below swansongd: swansong_attach(3). */
	static node attached()
	{
		struct ::swansong *s = nullptr;

		detail::checked(swansong_attach(&s), "swansong_attach");
		return node(s);
	}

	node child() const
	{
		struct ::swansong *s = nullptr;

		detail::checked(swansong_child(s_, &s), "swansong_child");
		return node(s);
	}

	/* Another reference to the same node. */
	node ref() const noexcept { return node(swansong_ref(s_)); }

	/* On a thread of the library. */
	void stop_on_signal(int signo) const
	{
		detail::checked(swansong_stop_on_signal(s_, signo), "swansong_stop_on_signal");
	}
	void shut_down() const noexcept { swansong_shut_down(s_); }
	enum ::swansong_state state() const noexcept { return swansong_state(s_); }
	bool is_running() const noexcept { return state() == SWANSONG_RUNNING; }
	bool is_shutting_down() const noexcept { return state() == SWANSONG_SHUTTING_DOWN; }
	bool is_complete() const noexcept { return state() == SWANSONG_COMPLETE; }
	std::uint64_t guard_count() const noexcept { return swansong_guard_count(s_); }

	/* Until it is complete. */
	void wait() const { detail::checked(swansong_wait(s_, UINT64_MAX), "swansong_wait"); }
	bool wait_until(time_point deadline) const
	{
		return detail::in_time(swansong_wait(s_, detail::usec(deadline)), "swansong_wait");
	}
	template <class Rep, class Period>
	bool wait_for(std::chrono::duration<Rep, Period> duration) const
	{
		return wait_until(detail::after(duration));
	}

	struct ::swansong *get() const noexcept { return s_; }
	explicit operator bool() const noexcept { return s_; }
	friend bool operator==(const node &a, const node &b) noexcept { return a.s_ == b.s_; }
	friend bool operator!=(const node &a, const node &b) noexcept { return a.s_ != b.s_; }

      private:
	struct ::swansong *s_ = nullptr;
};

namespace detail
{

/* A function that the library calls; it may drop the object that has it. */
struct called : std::enable_shared_from_this<called> {
	explicit called(std::function<void()> f) : function(std::move(f)) {}
	std::function<void()> function;

	/* An exception does not pass through the library, but ends the program. */
	static void call(void *arg) noexcept
	{
		static_cast<called *>(arg)->shared_from_this()->function();
	}
};

} /* namespace detail */

/* Resolves when its node is complete; dropping it waits for its function, if that is running. */
class completion
{
      public:
	explicit completion(const node &n)
	{
		detail::checked(swansong_completion_new(n.get(), &c_), "swansong_completion_new");
	}
	completion(completion &&other) noexcept
		: c_(std::exchange(other.c_, nullptr)), called_(std::move(other.called_))
	{
	}
	completion &operator=(completion &&other) noexcept
	{
		completion moved(std::move(other));

		std::swap(c_, moved.c_);
		std::swap(called_, moved.called_);
		return *this;
	}
	completion(const completion &) = delete;
	completion &operator=(const completion &) = delete;
	~completion() { swansong_completion_unref(c_); }

	bool done() const noexcept { return swansong_completion_done(c_); }
	void wait() const
	{
		detail::checked(swansong_completion_wait(c_, UINT64_MAX),
				"swansong_completion_wait");
	}
	bool wait_until(time_point deadline) const
	{
		return detail::in_time(swansong_completion_wait(c_, detail::usec(deadline)),
				       "swansong_completion_wait");
	}
	template <class Rep, class Period>
	bool wait_for(std::chrono::duration<Rep, Period> duration) const
	{
		return wait_until(detail::after(duration));
	}

	/* Once, on the thread that completes the node, or here; std::terminate() for an exception. */
	void on_complete(std::function<void()> function)
	{
		const auto called = std::make_shared<detail::called>(std::move(function));

		called_ = called_ ? called_ : called;
		detail::checked(swansong_completion_notify(c_, detail::called::call, called.get()),
				"swansong_completion_notify");
	}

	/* Readable from the end on; it stays the completion's. */
	int fd() const
	{
		return detail::checked(swansong_completion_fd(c_), "swansong_completion_fd");
	}

	struct ::swansong_completion *get() const noexcept { return c_; }
	explicit operator bool() const noexcept { return c_; }

      private:
	struct ::swansong_completion *c_ = nullptr;
	std::shared_ptr<detail::called> called_;
};

/* A piece of work in progress; one that is made without a node is empty. */
class guard
{
      public:
	guard() noexcept = default;
	explicit guard(const node &n, const char *file = __builtin_FILE(),
		       unsigned int line = __builtin_LINE(),
		       const char *function = __builtin_FUNCTION()) noexcept
		: g_(swansong_guard_at(n.get(), file, line, function))
	{
	}

	guard(guard &&other) noexcept : g_(std::exchange(other.g_, {})) {}
	guard &operator=(guard &&other) noexcept
	{
		guard moved(std::move(other));

		std::swap(g_, moved.g_); /* what was held is dropped */
		return *this;
	}
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;
	~guard() { drop(); }

	/* Another one on the same node; empty if this one is. */
	guard clone(const char *file = __builtin_FILE(), unsigned int line = __builtin_LINE(),
		    const char *function = __builtin_FUNCTION()) const noexcept
	{
		guard other;

		other.g_ = swansong_guard_clone_at(&g_, file, line, function);
		return other;
	}

	/* Before the end of the scope; harmless when repeated. */
	void drop() noexcept { swansong_guard_drop(&g_); }

	explicit operator bool() const noexcept { return g_.node; }

      private:
	struct ::swansong_guard g_ = {};
};

struct guarded_t {
};
inline constexpr guarded_t guarded{}; /* an interrupt that holds a guard */

/* Sees the stop of a node; get() is for the calls of swansong/interrupt-io.h. */
class interrupt
{
      public:
	explicit interrupt(const node &n)
	{
		detail::checked(swansong_interrupt_new(n.get(), &i_), "swansong_interrupt_new");
	}
	interrupt(const node &n, guarded_t, const char *file = __builtin_FILE(),
		  unsigned int line = __builtin_LINE(),
		  const char *function = __builtin_FUNCTION())
	{
		detail::checked(swansong_interrupt_new_guarded_at(n.get(), &i_, file, line,
								  function),
				"swansong_interrupt_new_guarded");
	}

	interrupt(interrupt &&other) noexcept : i_(std::exchange(other.i_, nullptr)) {}
	interrupt &operator=(interrupt &&other) noexcept
	{
		interrupt moved(std::move(other));

		std::swap(i_, moved.i_);
		return *this;
	}
	interrupt(const interrupt &) = delete;
	interrupt &operator=(const interrupt &) = delete;
	~interrupt() { swansong_interrupt_unref(i_); }

	bool interrupted() const noexcept { return swansong_interrupted(i_); }

	/* Until the stop. */
	void wait() const
	{
		detail::checked(swansong_interrupt_wait(i_, UINT64_MAX), "swansong_interrupt_wait");
	}
	bool wait_until(time_point deadline) const
	{
		return detail::in_time(swansong_interrupt_wait(i_, detail::usec(deadline)),
				       "swansong_interrupt_wait");
	}
	template <class Rep, class Period>
	bool wait_for(std::chrono::duration<Rep, Period> duration) const
	{
		return wait_until(detail::after(duration));
	}

	/* Readable from the stop on; it stays the interrupt's. */
	int fd() const
	{
		return detail::checked(swansong_interrupt_fd(i_), "swansong_interrupt_fd");
	}

	struct ::swansong_interrupt *get() const noexcept { return i_; }
	explicit operator bool() const noexcept { return i_; }

      private:
	struct ::swansong_interrupt *i_ = nullptr;
};

/* Has a function called at the stop of a node; its end waits for the function, if that is running. */
class stop_callback
{
      public:
	stop_callback(const node &n, std::function<void()> function)
		: called_(std::make_shared<detail::called>(std::move(function))), i_(n)
	{
		detail::checked(swansong_interrupt_notify(i_.get(), detail::called::call,
							  called_.get()),
				"swansong_interrupt_notify");
	}
	stop_callback(const stop_callback &) = delete;
	stop_callback &operator=(const stop_callback &) = delete;

      private:
	std::shared_ptr<detail::called> called_; /* after the interrupt */
	interrupt i_;
};

namespace detail
{

/* Zero, or the errno of a std::system_error; another exception ends the program. */
template <class Function> int result_of(const Function &function) noexcept
{
	try {
		function();
		return 0;
	} catch (const std::system_error &e) {
		return e.code().value() > 0 ? -e.code().value() : -EIO;
	}
}

inline time_point time(std::uint64_t usec)
{
	using std::chrono::microseconds;
	const auto last = std::chrono::floor<microseconds>(time_point::max().time_since_epoch());

	if (usec > static_cast<std::uint64_t>(last.count()))
		return time_point::max();
	return time_point(microseconds(usec));
}

} /* namespace detail */

/*
 * What a program does at its end: swansong_registry_new(3).  A function that throws a
 * std::system_error has failed with its errno.
 */
class registry
{
      public:
	using on_error = std::function<void(enum ::swansong_registry_step, const char *name,
					    std::error_code)>;

	registry() : all_(std::make_unique<all>())
	{
	}

	/* The second function waits until its deadline, and returns false if the worker still runs. */
	void add_worker(const char *name, std::function<void()> notify,
			std::function<bool(time_point)> join,
			std::chrono::microseconds timeout = std::chrono::microseconds(0))
	{
		entry *e = all_->add({ std::move(notify), std::move(join) });
		struct ::swansong_worker worker = {};

		worker.name = name;
		worker.arg = e;
		worker.notify = e->begin ? call_begin : nullptr;
		worker.join = e->join ? call_join : nullptr;
		worker.timeout = static_cast<std::uint64_t>(timeout.count());
		detail::checked(swansong_registry_add_worker(all_->registry, &worker),
				"swansong_registry_add_worker");
	}
	/* The node is stopped, and has that time to be complete. */
	void add_worker(const char *name, const node &n,
			std::chrono::microseconds timeout = std::chrono::microseconds(0))
	{
		const auto shared = std::make_shared<node>(n.ref());

		add_worker(
			name, [shared] { shared->shut_down(); },
			[shared](time_point deadline) { return shared->wait_until(deadline); },
			timeout);
	}
	void add_action(const char *name, std::function<void()> function)
	{
		entry *e = all_->add({ std::move(function), {} });

		detail::checked(swansong_registry_add_action(all_->registry, name, call_begin, e),
				"swansong_registry_add_action");
	}

	/* Returns the number of functions that failed. */
	int execute(time_point deadline = time_point::max(), const on_error &f = {})
	{
		return detail::checked(swansong_registry_execute(all_->registry,
								 detail::usec(deadline), call_error,
								 const_cast<on_error *>(&f)),
				       "swansong_registry_execute");
	}

	/* The same without waiting: false if workers are left, to be called again at that time. */
	bool advance(time_point deadline, time_point &again, int &failed, const on_error &f = {})
	{
		std::uint64_t usec = 0;
		const int r =
			swansong_registry_advance(all_->registry, detail::usec(deadline), &usec,
						  call_error, const_cast<on_error *>(&f));

		if (r == -EAGAIN) {
			again = detail::time(usec);
			return false;
		}
		failed = detail::checked(r, "swansong_registry_advance");
		return true;
	}

      private:
	struct entry {
		std::function<void()> begin; /* notify, or act */
		std::function<bool(time_point)> join;
	};

	/* The registry, and the functions for as long as it lives. */
	struct all {
		struct ::swansong_registry *registry = nullptr;
		std::mutex mutex;
		std::forward_list<entry> entries;

		all()
		{
			detail::checked(swansong_registry_new(&registry), "swansong_registry_new");
		}
		~all()
		{
			swansong_registry_unref(registry);
		}
		entry *add(entry e)
		{
			const std::lock_guard<std::mutex> lock(mutex);

			entries.push_front(std::move(e));
			return &entries.front();
		}
	};

	static int call_begin(void *arg)
	{
		return detail::result_of(static_cast<entry *>(arg)->begin);
	}
	static int call_join(void *arg, std::uint64_t deadline)
	{
		bool ended = false;
		const int r = detail::result_of(
			[&] { ended = static_cast<entry *>(arg)->join(detail::time(deadline)); });

		return r < 0 || ended ? r : -ETIMEDOUT;
	}
	static void call_error(void *arg, enum ::swansong_registry_step step, const char *name,
			       int error) noexcept
	{
		if (const on_error &f = *static_cast<const on_error *>(arg))
			f(step, name, std::error_code(-error, std::generic_category()));
	}

	std::unique_ptr<all> all_;
};

/* Threads for jobs: swansong_pool_new(3).  Link with libswansong-loop, too. */
class pool
{
      public:
	pool(const node &parent, unsigned int threads)
	{
		detail::checked(swansong_pool_new(parent.get(), threads, &p_), "swansong_pool_new");
	}
	pool(pool &&other) noexcept : p_(std::exchange(other.p_, nullptr))
	{
	}
	pool &operator=(pool &&other) noexcept
	{
		pool moved(std::move(other));

		std::swap(p_, moved.p_);
		return *this;
	}
	pool(const pool &) = delete;
	pool &operator=(const pool &) = delete;
	~pool()
	{
		swansong_pool_unref(p_);
	}

	/* False after the stop: the job does not run.  An exception in it ends the program. */
	bool submit(std::function<void()> job, const char *file = __builtin_FILE(),
		    unsigned int line = __builtin_LINE(),
		    const char *function = __builtin_FUNCTION()) const
	{
		auto own = std::make_unique<std::function<void()>>(std::move(job));
		const int r = swansong_pool_submit_at(p_, call, own.get(), file, line, function);

		if (r == -ESHUTDOWN)
			return false;
		detail::checked(r, "swansong_pool_submit");
		(void)own.release(); /* the job drops it */
		return true;
	}

	bool wait_idle_until(time_point deadline) const
	{
		return detail::in_time(swansong_pool_wait_idle(p_, detail::usec(deadline)),
				       "swansong_pool_wait_idle");
	}
	void stop() const noexcept
	{
		swansong_pool_stop(p_);
	}

	struct ::swansong_pool *get() const noexcept
	{
		return p_;
	}
	explicit operator bool() const noexcept
	{
		return p_;
	}

      private:
	static void call(void *arg) noexcept
	{
		const std::unique_ptr<std::function<void()>> job(
			static_cast<std::function<void()> *>(arg));

		(*job)();
	}

	struct ::swansong_pool *p_ = nullptr;
};

#ifdef __cpp_lib_jthread
/* A std::stop_token that is stopped with a node, as long as this exists. */
class stop_bridge
{
      public:
	explicit stop_bridge(const node &n)
		: callback_(n, [source = source_]() mutable { source.request_stop(); })
	{
	}
	std::stop_token token() const noexcept { return source_.get_token(); }

      private:
	std::stop_source source_;
	stop_callback callback_;
};
#endif

} /* namespace swan */

#endif
