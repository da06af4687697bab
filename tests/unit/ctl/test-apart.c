#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "ctl/logs/apart.h"
#include "tests/unit/ctl/test-ctl.h"

/* The fate of each of them. */
enum fate { FINE, FAILS, DIES, HANGS };

struct work {
	const enum fate *fates;
	const char *const *paths;
	int *ran; /* shared */
};

static int meet_fate(size_t i, void *arg)
{
	const struct work *work = arg;

	work->ran[i]++;
	if (work->fates[i] == DIES)
		(void)raise(SIGKILL);
	while (work->fates[i] == HANGS)
		(void)pause();
	return work->fates[i] == FAILS ? -EACCES : 0;
}

static const char *path_of(size_t i, const void *arg)
{
	return ((const struct work *)arg)->paths[i];
}

START_TEST(each_has_its_result_and_those_beside_one_that_hangs_wait_no_longer)
{
	static const enum fate fates[] = { FINE, DIES, FAILS, HANGS, FINE, HANGS, FINE };
	static const char *const paths[] = { "/a", "/b", "/c", "/d", "/proc/e", "/f", "/g" };
	static const int expected[] = { 0, -EIO, -EACCES, -ETIMEDOUT, 0, -ETIMEDOUT, -ENOENT };
	int results[ARRAY_SIZE(fates)] = { [6] = -ENOENT };
	struct work work = { .fates = fates, .paths = paths };
	const struct apart apart = {
		.n = ARRAY_SIZE(fates),
		.run = meet_fate,
		.path = path_of,
		.arg = &work,
		.output = -1,
		.wait_usec = 200 * USEC_PER_MSEC,
	};

	work.ran = apart_allocate(sizeof(fates));
	ck_assert_int_eq(apart_run(&apart, results), 0);
	for (size_t i = 0; i < ARRAY_SIZE(fates); i++) {
		ck_assert_int_eq(results[i], expected[i]);
		ck_assert_int_eq(work.ran[i], i < 5);
	}
	apart_free(work.ran, sizeof(fates));
}
END_TEST

TCase *ctl_apart_tests(void)
{
	TCase *tc = tcase_create("ctl-apart");

	tcase_add_test(tc, each_has_its_result_and_those_beside_one_that_hangs_wait_no_longer);
	return tc;
}
