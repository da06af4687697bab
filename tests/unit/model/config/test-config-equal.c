#include "tests/unit/model/config/test-config.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "tests/unit/fixtures/node-equal.h"

static const char *const differences[] = {
	"[a]\ncommand = x y\n",
	"[a]\n",
	"[a]\ncommand = x\ntype = oneshot\n",
	"[a]\ncommand = x\nlisten = tcp:127.0.0.1:80\n",
	"[a]\ncommand = x\nlisten = tcp:127.0.0.1:81\n",
	"[a]\ncommand = x\nlisten = udp:127.0.0.1:80\n",
	"[a]\ncommand = x\nlisten = udp:127.0.0.1:80,name=a\n",
	"[a]\ncommand = x\nlisten = unix:/a\n",
	"[a]\ncommand = x\nlisten = unix:/a,mode=0600\n",
	"[a]\ncommand = x\nlisten = unix:/a,owner=redis\n",
	"[a]\ncommand = x\nlisten = unix:/a,group=adm\n",
	"[a]\ncommand = x\nlisten = unix:/a unix:/b\n",
	"[a]\ncommand = x\nlisten = unix:/b unix:/a\n",
	"[a]\ncommand = x\nrestart = always\n",
	"[a]\ncommand = x\nrestart-delay = 1s\n",
	"[a]\ncommand = x\nrestart-delay-max = 1s\n",
	"[a]\ncommand = x\nrestart-limit = none\n",
	"[a]\ncommand = x\nrestart-reset = 9s\n",
	"[a]\ncommand = x\nsuccess-status = 3\n",
	"[a]\ncommand = x\nsuccess-status = SIGINT\n",
	"[a]\ncommand = x\non-failed = shutdown\n",
	"[a]\ncommand = x\nstrategy = one-for-all\n",
	"[a]\ncommand = x\nready = notify\n",
	"[a]\ncommand = x\nready = tcp:[::1]:80\n",
	"[a]\ncommand = x\nready = tcp:[::1]:81\n",
	"[a]\ncommand = x\nready = fd:3\n",
	"[a]\ncommand = x\nready = fd:4\n",
	"[a]\ncommand = x\nnotify = yes\n",
	"[a]\ncommand = x\nfd-store-max = 1\n",
	"[a]\ncommand = x\nattach = yes\n",
	"[a]\ncommand = x\nstart-timeout = 1s\n",
	"[a]\ncommand = x\nwatchdog = 1s\n",
	"[a]\ncommand = x\nwatchdog = 2s\n",
	"[a]\ncommand = x\nwatchdog-signal = QUIT\n",
	"[a]\ncommand = x\nstop-signal = INT\n",
	"[a]\ncommand = x\nsignal-scope = main\n",
	"[a]\ncommand = x\nsignal-scope = all\n",
	"[a]\ncommand = x\nkill-signal = INT\n",
	"[a]\ncommand = x\nkill-leftovers = no\n",
	"[a]\ncommand = x\nessential = on\n",
	"[a]\ncommand = x\nterminal = on\n",
	"[a]\ncommand = x\ncgroup-memory-max = 1K\n",
	"[a]\ncommand = x\ncgroup-memory-max = infinity\n",
	"[a]\ncommand = x\ncgroup-pids-max = 1\n",
	"[a]\ncommand = x\ncgroup-cpu-weight = 1\n",
	"[a]\ncommand = x\nuser = redis\n",
	"[a]\ncommand = x\ngroup = adm\n",
	"[a]\ncommand = x\ngroups = adm\n",
	"[a]\ncommand = x\ngroups = adm 5\n",
	"[a]\ncommand = x\ngroups = none\n",
	"[a]\ncommand = x\ndirectory = /\n",
	"[a]\ncommand = x\nenvironment = A=\n",
	"[a]\ncommand = x\nenvironment = A= B=\n",
	"[a]\ncommand = x\numask = 0\n",
	"[a]\ncommand = x\nlimit-cpu = 5\n",
	"[a]\ncommand = x\nlimit-cpu = 5:6\n",
	"[a]\ncommand = x\nlimit-core = 5:6\n",
	"[a]\ncommand = x\nnice = 5\n",
	"[a]\ncommand = x\nnice = -5\n",
	"[a]\ncommand = x\noom-score-adjust = 5\n",
	"[a]\ncommand = x\nio-class = idle\n",
	"[a]\ncommand = x\nio-class = best-effort:5\n",
	"[a]\ncommand = x\ncpu-affinity = 5\n",
	"[a]\ncommand = x\nno-new-privileges = yes\n",
	"[a]\ncommand = x\ncapabilities = none\n",
	"[a]\ncommand = x\ncapabilities = cap_kill\n",
	"[a]\ncommand = x\nstop-timeout = 1s\n",
	"[a]\ncommand = x\nstdin = inherit\n",
	"[a]\ncommand = x\nstdout = null\n",
	"[a]\ncommand = x\nstderr = null\n",
	"[a]\ncommand = x\nlog = null\n",
	"[a]\ncommand = x\nlog = journal\n",
	"[a]\ncommand = x\nlog = syslog\n",
	"[a]\ncommand = x\nlog = file:/x\n",
	"[a]\ncommand = x\nlog = file:/y\n",
	"[a]\ncommand = x\nshutdown-timeout = 1s\n",
	"[b]\n[a]\ncommand = x\nrequires = b\n",
	"[b]\n[a]\ncommand = x\nafter = b\n",
	"[b]\n[a]\ncommand = x\nwants = b\n",
	"[b]\n[a]\ncommand = x\nterm-after = b\n",
	"[b]\n[c]\n[a]\ncommand = x\nafter = b c\n",
	"[a]\ncommand = x\n",
};

static struct config *load_quietly(const char *text)
{
	struct config *config = NULL;
	struct texts texts;

	ck_assert_int_eq(load_text(&config, text, &texts), 0);
	return config;
}

START_TEST(configurations_with_the_same_behaviour_are_equal)
{
	for (size_t i = 0; i < ARRAY_SIZE(differences); i++) {
		char *moved = malloc(strlen(differences[i]) + 20);

		(void)strcpy(stpcpy(moved, "\n# moved\n[other]\n"), differences[i]);
		for (size_t j = 0; j < ARRAY_SIZE(differences); j++) {
			cleanup(config_unrefp) struct config *a = load_quietly(moved),
							     *b = load_quietly(differences[j]);

			ck_assert_msg(node_config_equal(only(a, "a"), only(b, "a")) == (i == j),
				      "%s%s", differences[i], differences[j]);
		}
		free(moved);
	}
}
END_TEST

TCase *config_equal_tests(void)
{
	TCase *tc = config_case("equal");

	tcase_add_test(tc, configurations_with_the_same_behaviour_are_equal);
	return tc;
}
