#include "tests/unit/model/config/test-config.h"

#include "base/macro.h"
#include "model/keys/keys.h"

/* Values that each key must refuse, independently of the definition of its type. */
static const struct {
	const char *key;
	const char *values[24];
} bad_values[] = {
	{ "shutdown-timeout",
	  { "", "5", "-1s", "1.5s", "5 s", "1m", "forever", "99999999999999999999s" } },
	{ "type", { "", "Simple", "fork" } },
	{ "listen",
	  { "", "80", "tcp:", "tcp:80", "tcp:127.0.0.1:0", "tcp:example.org:80", "udp:[::1]",
	    "unix:", "unix:run/x", "http:127.0.0.1:80", "tcp:127.0.0.1:80,", "unix:/x,mode=0778",
	    "unix:/x,mode=660,mode=660", "unix:/x,owner=nobody-there", "unix:/x,group=4294967295",
	    "tcp:127.0.0.1:80,mode=600", "unix:/x,backlog=5", "unix:/x,name=a:b", "unix:/%x" } },
	{ "listen",
	  { "unix:/x,name=", "unix:/x unix:/x", "tcp:127.0.0.1:80 tcp:localhost:80,name=b",
	    "unix:/x \"unix:/y",
	    "unix:/"
	    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
	    "1234567" } },
	{ "agent",
	  { "", "tcp:80", "udp:127.0.0.1:80", "http://127.0.0.1:80/x", "http:127.0.0.1:80",
	    "unix:x", "tcp:127.0.0.1:80 tcp:127.0.0.1:81", "tcp:127.0.0.1:80,name=a",
	    "unix:/x,mode=0778", "unix:/%x" } },
	{ "condition",
	  { "", "/a", "path:a", "path:", "!exec:a", "!", "env:", "env:A=1", "env:1A", "!!path:/a",
	    "exec:", "exec:\"a", "path:/%x", "file:/a" } },
	{ "runtime-directory",
	  { "", "/run/a", "..", ".", "a/..", "../a", "a/../b", "a//b", "a/", "./a", "a:", "a:8",
	    "a:0755:b", "a b/..", "a:/b", ":0700", "\"a", "%x" } },
	{ "state-directory", { "a:10000", "a/.:700" } },
	{ "restart", { "", "yes", "on_failure", "ALWAYS" } },
	{ "restart-delay", { "", "1", "100" } },
	{ "restart-limit",
	  { "", "5", "5/", "/30s", "0/30s", "5/0", "5/30", "-5/30s", "1001/1s", "5/30s/2",
	    "00000005/1s" } },
	{ "restart-reset", { "", "10" } },
	{ "success-status", { "", "256", "-1", "3 x", "SIGNOPE", "1,2", "\"3" } },
	{ "on-failed", { "", "shutdown_parent", "yes" } },
	{ "strategy", { "", "one-for-two", "ONE-FOR-ALL" } },
	{ "ready",
	  { "", "fd", "fd:", "fd:0", "fd:1", "fd:2", "fd:-3", "fd:1024", "fd:3x", "tcp:", "tcp:80",
	    "tcp::80", "tcp:127.0.0.1", "tcp:127.0.0.1:0", "tcp:127.0.0.1:65536", "tcp:127.1:80",
	    "tcp:[::1]", "tcp:example.org:80", "tcp:::1:80" } },
	{ "ready",
	  { "tcp:127.0.0.1:%i", "tcp:127.0.0.1:80%", "tcp:127.0.0.1:80%%", "tcp:%n:80",
	    "tcp:127.0.0.1:80%z", "http://127.0.0.1:%z/" } },
	{ "ready",
	  { "tcp:[]:80", "tcp:[127.0.0.1]:80", "tcp:[::1:80", "tcp:127.0.0.1:+80",
	    "udp:127.0.0.1:80", "http://x/", "http://127.0.0.1/", "http://127.0.0.1:0/",
	    "http://127.0.0.1:80/a b", "http://127.0.0.1:80/#a", "https://127.0.0.1:80/",
	    "http://:80/", "unix:", "unix:x", "unix:/%x", "exec:", "exec:\"\"", "exec:%z" } },
	{ "ready",
	  { "exec:\"a", "none", "log:", "log:(", "log:[a", "log:a{2,1}", "log:(a)\\1", "log:a\\",
	    "unix:/"
	    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
	    "1234567" } },
	{ "health",
	  { "", "yes", "started", "notify", "fd:3", "tcp:80", "exec:", "unix:x", "http://x:80/",
	    "log:a" } },
	{ "health-interval", { "", "0", "10", "9ms", "infinity" } },
	{ "health-timeout", { "", "0", "9ms", "infinity" } },
	{ "health-retries", { "", "0", "-1", "1001", "x" } },
	{ "on-unhealthy", { "", "nothing", "Restart" } },
	{ "notify", { "", "all", "main" } },
	{ "control", { "", "private", "Yes" } },
	{ "fd-store-max", { "", "-1", "251", "all" } },
	{ "attach", { "", "Yes", "2", "fd:3", "page" } },
	{ "start-timeout", { "", "90" } },
	{ "watchdog", { "", "0", "30", "-1s" } },
	{ "watchdog-signal", { "", "0", "SIGNOPE" } },
	{ "start-command", { "", "''", "x \"y", "x %h", "x \\" } },
	{ "post-start", { "", "x 'y" } },
	{ "reload-signal", { "", "HUPP", "0", "none" } },
	{ "reload-command", { "", "x %" } },
	{ "drain-delay", { "", "5", "-1s" } },
	{ "drain-quiet", { "", "0", "5", "-1s", "9ms" } },
	{ "stop-command", { "", "'x" } },
	{ "post-stop", { "", "%x" } },
	{ "autostart", { "", "never" } },
	{ "stop-signal", { "", "0", "65", "SIGNOPE", "-15", "sigterm", "SIGTERM INT" } },
	{ "signal-scope", { "", "Main", "process", "cgroup", "main all" } },
	{ "kill-signal", { "", "0", "65", "SIGNOPE", "-9", "sigkill" } },
	{ "kill-leftovers", { "", "No", "2", "never" } },
	{ "essential", { "", "Yes", "2", "maybe" } },
	{ "terminal", { "", "Yes", "/dev/tty" } },
	{ "cgroup-memory-max",
	  { "", "0", "0K", "-1", "1.5G", "64k", "64KB", "64 K", "K", "max", "18446744073709551615",
	    "16777216T", "99999999999999999999999999" } },
	{ "cgroup-pids-max", { "", "0", "-1", "4194305", "1K", "max" } },
	{ "cgroup-cpu-weight", { "", "0", "10001", "-1", "idle", "50%", "infinity" } },
	{ "user",
	  { "", "0day", "0x0", "-1", "4294967295", "4294967296", "99999999999999999999",
	    "\"root \"", "1e0", "root;x", "nobody-there", "broken", "+0", "r:t", "root\n x",
	    "#0" } },
	{ "group",
	  { "", "0day", "0x0", "-1", "4294967295", "\"adm \"", "1e0", "nobody-there", "adm:adm" } },
	{ "groups",
	  { "", "adm adm", "4 adm", "nobody-there", "adm,4", "adm none", "0x4", "4294967295",
	    "\"adm", "''" } },
	{ "directory", { "", "srv", "./srv", "~", "/srv/%x", "%n/x", "/srv/%" } },
	{ "environment",
	  { "A", "=1", "1A=2", "A-B=1", "A=1 B", "A=1 A=2", "A=\"1", "A=%x", "%n=1" } },
	{ "environment-file", { "", "x", "-x", "-", "--/x", "/x%", "/x \"", "/x y", "/%h" } },
	{ "umask", { "", "8", "1777", "0x12", "-1", "rwx" } },
	{ "limit-nofile",
	  { "", "-1", "10:5", ":", "5:", ":5", "1:2:3", "64K", "infinity:5", "1 : 2", "unlimited",
	    "18446744073709551615", "18446744073709551616", "99999999999999999999999999999999" } },
	{ "limit-core", { "", "1k", "K", "1K:1", "16777216T", "10 M" } },
	{ "nice", { "", "-21", "20", "+1", "--1", "-", "1.0", "low" } },
	{ "oom-score-adjust", { "", "-1001", "1001", "99999999999999999999", "never" } },
	{ "io-class",
	  { "", "Idle", "idle:0", "none:0", "best-effort:", "best-effort:8", "realtime:-1",
	    "best-effort:7:7", "best_effort", "best-effort-and-more:1", "4", ":4" } },
	{ "cpu-affinity",
	  { "", "-1", "0-", "-", ",", "0,", ",0", "3-1", "1024", "0-1024", "0 1", "0--1", "0-1-2",
	    "0x1", "99999999999" } },
	{ "no-new-privileges", { "", "Yes", "2" } },
	{ "capabilities",
	  { "", "cap_nothing", "net_bind_service", "cap_kill,cap_chown", "cap_kill cap_kill",
	    "cap_kill none", "all cap_kill", "~cap_kill", "0x1", "cap_kill \"", "None" } },
	{ "stop-timeout", { "", "10" } },
	{ "drain-timeout", { "", "5", "-1s", "5m", "never" } },
	{ "final-timeout", { "", "5", "none" } },
	{ "stdin", { "", "journal", "file", "file:", "file:x", "/dev/tty", "-" } },
	{ "stdout", { "", "log", "Journal", "file:x", "1" } },
	{ "stderr", { "", "stdout", "file:/%x" } },
	{ "log",
	  { "", "file", "file:", "file:x", "file:/x%", "file:/x/", "file:/dev/tty1", "/var/log/x",
	    "Syslog", "none" } },
};

START_TEST(a_bad_value_is_refused_with_its_place)
{
	for (size_t j = 0; bad_values[_i].values[j]; j++) {
		char text[256], expected[64];

		(void)snprintf(text, sizeof(text), "[a/b]\ncommand = x\n%s = %s\n",
			       bad_values[_i].key, bad_values[_i].values[j]);
		(void)snprintf(expected, sizeof(expected), "f:3: [a/b] %s: invalid value '",
			       bad_values[_i].key);
		bad(text, expected);
	}
}
END_TEST

START_TEST(a_bad_value_of_the_root_is_refused)
{
	bad("[swansong]\ncontrol-socket = run/s\n",
	    "f:2: [swansong] control-socket: invalid value 'run/s': expected an absolute path of at most 107 bytes");
	bad("[a]\nstop-timeout = 10sek\n",
	    "f:2: [a] stop-timeout: invalid value '10sek': expected a duration, for example 30s");
	bad("[swansong]\ncontrol-socket =\n", "f:2: [swansong] control-socket: invalid value ''");
	bad("[swansong]\ncontrol-socket = /"
	    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
	    "1234567\n",
	    "f:2: [swansong] control-socket: invalid value '/0123");
	bad("[swansong]\ncontrol-mode = 666x\n",
	    "f:2: [swansong] control-mode: invalid value '666x'");
	bad("[swansong]\ncontrol-group = 0day\n",
	    "f:2: [swansong] control-group: invalid value '0day'");
	bad("[swansong]\nreport = /r\nhistory = /r\n",
	    "f:3: [swansong] history: '/r' is also the file of report: expected another path");
	bad("[swansong]\nreport = /r\nstate = /s\nhistory = /s\n",
	    "f:3: [swansong] state: '/s' is also the file of history: expected another path");
	bad("[swansong]\ncommand = x\n",
	    "f:2: [swansong] command: wrong section: expected in the section of a service");
}
END_TEST

/* A value that is invalid for every key, in each scope: so no key is forgotten. */
START_TEST(every_key_has_a_bad_value)
{
	const struct key *key = &keys[_i];
	const char *section = key->scope == SCOPE_ROOT	     ? "swansong"
			      : key->scope == SCOPE_TEMPLATE ? "a/b@"
							     : "a/b";
	bool command = _i == KEY_COMMAND || key->scope == SCOPE_ROOT;
	char text[128], expected[128];

	(void)snprintf(text, sizeof(text), "[%s]\n%s = %%q\n%s", section, key->name,
		       command ? "" : "command = x\n");
	(void)snprintf(expected, sizeof(expected), "f:2: [%s] %s: invalid value '", section,
		       key->name);
	bad(text, expected);
}
END_TEST

TCase *config_bad_tests(void)
{
	TCase *tc = config_case("bad");

	tcase_add_loop_test(tc, a_bad_value_is_refused_with_its_place, 0, ARRAY_SIZE(bad_values));
	tcase_add_test(tc, a_bad_value_of_the_root_is_refused);
	tcase_add_loop_test(tc, every_key_has_a_bad_value, 0, N_KEYS);
	return tc;
}
