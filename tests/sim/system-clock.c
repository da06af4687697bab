/*
 * The functions about the clock of the world: it may be set, which a timer of the daemon notices; and numbers
 * that only the seed decides.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "tests/sim/descriptors.h"
#include "tests/sim/kernel.h"
#include "tests/sim/system.h"

#define WRAP(result, name, ...)            \
	result __wrap_##name(__VA_ARGS__); \
	result __wrap_##name(__VA_ARGS__)

#define REALTIME_USEC UINT64_C(1790000000000000)

/* Each call takes a microsecond, so that the order of events is known. */
WRAP(uint64_t, clock_now_usec, void)
{
	return kernel.now_usec++;
}

WRAP(uint64_t, clock_realtime_usec, void)
{
	return REALTIME_USEC + kernel.now_usec + (uint64_t)kernel.clock_offset_usec;
}

void system_set_clock(int64_t change_usec)
{
	kernel.clock_offset_usec += change_usec;
	kernel.clock_was_set = true;
}

WRAP(int, timerfd_create, clockid_t clock, int flags)
{
	errno = kernel_fails(FAULT_TIMER);
	if (errno)
		return -1;
	kernel.clock_was_set = false;
	return descriptors_open(DESCRIPTOR_CLOCK);
}

WRAP(int, timerfd_settime, int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	errno = kernel_fails(FAULT_TIMER);
	return errno ? -1 : 0;
}

ssize_t system_read_clock(void)
{
	errno = kernel.clock_was_set ? ECANCELED : EAGAIN;
	kernel.clock_was_set = false;
	return -1;
}

WRAP(ssize_t, getrandom, void *buf, size_t size, unsigned flags)
{
	for (size_t i = 0; i < size; i++)
		((unsigned char *)buf)[i] = (unsigned char)kernel_random(256);
	return (ssize_t)size;
}
