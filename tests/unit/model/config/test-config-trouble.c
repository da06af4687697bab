#include "tests/unit/model/config/test-config.h"
#include "tests/unit/fixtures/nomem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macro.h"

/* Without memory, and with damaged files. */

static const char sample[] =
	"# A configuration with everything.\n"
	"[swansong]\ncontrol-socket = /run/s\ncontrol-group = adm\nshutdown-timeout = 90s\nlog = inherit\n\n"
	"[data/redis]\ncommand = redis-server --save \"\" %n\n    --port 6379 %%\nready = tcp:127.0.0.1:6379\n"
	"groups = adm\nlimit-core = 0\ncapabilities = cap_kill\nstdin = file:/i/%n\nstderr = file:/e/%n\nuser = redis\nenvironment-file = -/nonexistent/%n -/nonexistent\nenvironment = A=1 B=\"x y\"\ndirectory = /srv/%i\n"
	"[web]\nshutdown-timeout = 30s\nenvironment = B=2\n; comment\n"
	"[web/nginx]\ncommand = nginx -g \"daemon off;\"\nrequires = data/redis\nafter = job@1\n"
	"stop-signal = SIGQUIT\nrestart = always\nrestart-limit = 5/30s\nlog = file:/var/log/%n\nuser = 100\nlisten = unix:/run/%i,owner=100,name=x tcp:[::]:80\n"
	"[w@]\ncommand = w %i\ninstances = 2\nrequires = web/nginx job@%i\n[w@1]\n[job@]\ninstances = 1 2\n"
	"[job@1]\ncommand = job %i\ntype = oneshot\nessential = no\numask = 022\ngroup = 4\nuser = 9\n";
static const char mistakes[] =
	"k=v\n[a]\nrequires = a b b/c c\nuser = 0day\nx = y\n[b/c]\nafter = a a\nrestart = no\n"
	"[b b]\nlog = file:x\n[t@]\ninstances = x x\n[t@]\n[a]\ncommand = \"\n[]\n[x\n";

/* Loads @text with ever more allocations allowed, until it goes through. */
static void load_without_memory(const char *text, int expected)
{
	static const char *const path = ".";
	int r = -ENOMEM;
	long n;

	ck_assert_int_eq(mkdir("d", 0755), 0);
	ck_assert_int_eq(mkdir("x.d", 0755), 0);
	write_file("x.ini", text, strlen(text));
	write_file("x.d/x.ini", text, strlen(text));
	for (n = 0; r == -ENOMEM; n++) {
		cleanup(diag_freep) struct diag *diag = NULL;
		struct config *config = NULL;

		ck_assert_int_lt(n, 10000);
		ck_assert_int_eq(diag_new(&diag), 0);
		allocations_left = n;
		r = config_load(&config, &path, 1, &names, diag);
		allocations_left = -1;
		ck_assert_msg(r == -ENOMEM || r == expected, "%ld allocations gave %d", n, r);
		ck_assert_int_eq(r == 0, config != NULL);
		config_unref(config);
	}
	ck_assert_int_gt(n, 30);
}

START_TEST(without_memory_nothing_is_loaded_and_nothing_lost)
{
	load_without_memory(sample, 0);
}
END_TEST

START_TEST(without_memory_errors_are_still_reported)
{
	load_without_memory(mistakes, -EINVAL);
}
END_TEST

static void find_cycle(enum diag_level level, struct place place, const char *text, void *arg)
{
	const char *cycle = strstr(text, "dependency cycle: ");

	(void)level;
	if (cycle)
		(void)snprintf(arg, 4096, "%s", cycle + strlen("dependency cycle: "));
}

/* The text grows in several allocations; a truncated cycle would mislead the user. */
START_TEST(without_memory_a_cycle_is_reported_whole_or_not_at_all)
{
	static const char *const path = ".";
	static const char nodes[][60] = {
		"alpha-of-a-very-long-name-that-nobody-would-like-to-type",
		"beta-of-a-very-long-name-that-nobody-would-like-to-type",
		"gamma-of-a-very-long-name-that-nobody-would-like-to-type",
		"delta-of-a-very-long-name-that-nobody-would-like-to-type",
	};
	char text[2000] = "", path_shown[2000] = "", steps[2000] = "", told[4096], whole[4096];
	unsigned int told_whole = 0;
	int r = -ENOMEM;

	for (size_t k = 0; k < ARRAY_SIZE(nodes); k++) {
		const char *next = nodes[(k + 1) % ARRAY_SIZE(nodes)];

		(void)sprintf(text + strlen(text), "[%s]\nrequires = %s\n", nodes[k], next);
		(void)sprintf(path_shown + strlen(path_shown), "%s → ", nodes[k]);
		(void)sprintf(steps + strlen(steps), "%s%s requires %s", k ? "; " : "", nodes[k],
			      next);
	}
	(void)snprintf(whole, sizeof(whole), "%s%s: %s", path_shown, nodes[0], steps);
	ck_assert_int_eq(mkdir("d", 0755), 0);
	write_file("x.ini", text, strlen(text));
	for (long n = 0; r == -ENOMEM; n++) {
		cleanup(diag_freep) struct diag *diag = NULL;
		struct config *config = NULL;

		ck_assert_int_lt(n, 10000);
		ck_assert_int_eq(diag_new(&diag), 0);
		told[0] = '\0';
		allocations_left = n;
		r = config_load(&config, &path, 1, &names, diag);
		allocations_left = -1;
		diag_each(diag, find_cycle, told);
		if (told[0])
			ck_assert_str_eq(told, whole);
		told_whole += told[0] != '\0';
		config_unref(config);
	}
	ck_assert_int_eq(r, -EINVAL);
	ck_assert_uint_gt(told_whole, 0);
}
END_TEST

static size_t mutate(char *text, size_t size, unsigned *seed)
{
	static const char *const pieces[] = { "[",
					      "]",
					      "=",
					      "\n",
					      "\n ",
					      "\"",
					      "%",
					      "/",
					      "\r\n",
					      "a",
					      "infinity",
					      "-1",
					      "@",
					      ":",
					      "\\",
					      "\xff",
					      "\xc3",
					      "\n[a]\n",
					      "requires = web\n",
					      "web/nginx" };
	size_t at = (size_t)rand_r(seed) % (size + 1), cut = (size_t)rand_r(seed) % 6;
	const char *piece = pieces[rand_r(seed) % (int)ARRAY_SIZE(pieces)];
	size_t length = strlen(piece);

	switch (rand_r(seed) % 4) {
	case 0: /* a byte is another */
		if (at < size)
			text[at] = (char)rand_r(seed);
		return size;
	case 1: /* some are missing */
		cut = MIN(cut, size - at);
		memmove(text + at, text + at + cut, size - at - cut);
		return size - cut;
	case 2: /* a part comes twice */
		length = MIN((size_t)rand_r(seed) % 60, size - at);
		memmove(text + at + length, text + at, size - at);
		return size + length;
	default: /* something is in between */
		memmove(text + at + length, text + at, size - at);
		memcpy(text + at, piece, length);
		return size + length;
	}
}

START_TEST(random_damage_is_accepted_or_reported)
{
	static const char *const path = "f";
	unsigned seed = (unsigned)_i + 1;
	unsigned outcomes[2] = { 0, 0 };

	for (int round = 0; round < 500; round++) {
		char text[4096];
		size_t size = strlen(sample);
		int changes = rand_r(&seed) % 8;
		struct config *config = NULL;
		struct texts texts;
		int r;

		memcpy(text, sample, size);
		for (int i = 0; i < changes; i++)
			size = mutate(text, size, &seed);
		write_file(path, text, size);
		r = load(&config, &path, 1, &texts);
		ck_assert_msg(r == 0 || r == -EINVAL, "%d", r);
		ck_assert_int_eq(r == 0, config != NULL);
		outcomes[r == 0]++;
		config_unref(config);
	}
	ck_assert_uint_gt(outcomes[0], 0);
	ck_assert_uint_gt(outcomes[1], 0);
}
END_TEST

TCase *config_trouble_tests(void)
{
	TCase *tc = config_case("trouble");

	tcase_add_test(tc, without_memory_nothing_is_loaded_and_nothing_lost);
	tcase_add_test(tc, without_memory_errors_are_still_reported);
	tcase_add_test(tc, without_memory_a_cycle_is_reported_whole_or_not_at_all);
	tcase_add_loop_test(tc, random_damage_is_accepted_or_reported, 0, 4);
	return tc;
}
