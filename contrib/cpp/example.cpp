/*
 * Workers that share a list of jobs, and an end in which each job that was begun is done.
 *
 *	c++ -std=c++17 example.cpp $(pkg-config --cflags --libs libswansong) -pthread && ./a.out
 */
#include <cstdio>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <swansong/swansong.hpp>

class shop
{
      public:
	void order(int dish, const swan::node &day)
	{
		std::lock_guard lock(mutex_);

		orders_.emplace_back(dish, swan::guard(day)); /* until it is cooked */
	}

	void cook(const swan::interrupt &closing)
	{
		while (auto order = next(closing)) {
			try {
				serve(order.dish);
			} catch (const std::exception &e) {
				std::printf("dish %d: %s\n", order.dish, e.what());
			}
		} /* its guard is dropped here, whatever was thrown */
	}

	int served() const { return served_; }

      private:
	struct order_of {
		order_of() = default;
		order_of(int number, swan::guard &&taken) : dish(number), guard(std::move(taken)) {}
		explicit operator bool() const { return static_cast<bool>(guard); }

		int dish = 0;
		swan::guard guard;
	};

	/* An empty one when the shop is closed and nothing is left to be cooked. */
	order_of next(const swan::interrupt &closing)
	{
		for (;;) {
			const bool closed = closing.interrupted();
			{
				std::lock_guard lock(mutex_);

				if (!orders_.empty()) {
					order_of order = std::move(orders_.front());
					orders_.pop_front();
					return order;
				}
			}
			if (closed)
				return {};
			(void)closing.wait_for(std::chrono::milliseconds(1));
		}
	}

	void serve(int dish)
	{
		if (dish == 13)
			throw std::runtime_error("there is none");
		std::lock_guard lock(mutex_);
		served_++;
	}

	std::mutex mutex_;
	std::deque<order_of> orders_;
	int served_ = 0;
};

int main()
try {
	swan::node root = swan::node::attached();
	const swan::node day = root.child();
	std::vector<std::thread> cooks;
	shop shop;

	for (int i = 0; i < 3; i++)
		cooks.emplace_back([&shop, closing = swan::interrupt(day)] { shop.cook(closing); });
	for (int dish = 1; dish <= 20; dish++)
		shop.order(dish, day);

	root.shut_down();
	root.wait();
	std::printf("served %d of 20\n", shop.served());
	for (std::thread &cook : cooks)
		cook.join();
} catch (const std::system_error &e) {
	std::fprintf(stderr, "%s\n", e.what());
	return 1;
}
