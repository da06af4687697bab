#include "tests/unit/model/config/test-config.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "model/keys/diff.h"
#include "model/types/schedule.h"

/* Values of keys, and their settings. */

START_TEST(defaults_are_those_of_the_manual)
{
	cleanup(config_unrefp) struct config *config =
		good("[a]\ncommand = x\n[b]\ncommand = y\ntype = oneshot\n");
	struct node_config *root = only(config, ""), *a = only(config, "a"), *b = only(config, "b");

	ck_assert_ptr_eq(config->nodes[0], root);
	ck_assert_ptr_null(root->parent);
	ck_assert_ptr_eq(a->parent, root);
	ck_assert_uint_eq(root->shutdown_timeout_usec, 90 * USEC_PER_SEC);
	ck_assert_ptr_null(config->control_socket);
	ck_assert_uint_eq(config->control_mode, 0660);
	ck_assert_int_eq((int)config->control_group, -1);
	ck_assert_int_eq((int)config->control_run_group, -1);

	ck_assert_uint_eq(a->shutdown_timeout_usec, USEC_INFINITY);
	ck_assert_int_eq(a->type, TYPE_SIMPLE);
	ck_assert_int_eq(a->restart, RESTART_ON_FAILURE);
	ck_assert_uint_eq(a->restart_delay_usec, 100 * USEC_PER_MSEC);
	ck_assert_uint_eq(a->restart_delay_max_usec, 30 * USEC_PER_SEC);
	ck_assert_uint_eq(a->restart_limit.count, 5);
	ck_assert_uint_eq(a->restart_limit.window_usec, 30 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_extras(a)->restart_reset_usec, 10 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_extras(a)->success_status.signals, 0);
	ck_assert_int_eq(a->on_failed, ON_FAILED_NOTHING);
	ck_assert_int_eq(a->strategy, ONE_FOR_ONE);
	ck_assert_int_eq(a->ready.kind, PROBE_STARTED);
	ck_assert(!a->notify && !a->control && !node_config_extras(a)->watchdog_usec &&
		  !node_config_extras(a)->n_listen);
	ck_assert_int_eq(node_config_extras(a)->watchdog_signal, SIGABRT);
	ck_assert_int_eq(node_config_extras(a)->health.kind, PROBE_NONE);
	ck_assert_uint_eq(node_config_extras(a)->health_interval_usec, 10 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_extras(a)->health_timeout_usec, 5 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_extras(a)->health_retries, 3);
	ck_assert_int_eq(node_config_extras(a)->on_unhealthy, ON_UNHEALTHY_RESTART);
	ck_assert_uint_eq(node_config_extras(a)->fd_store_max, CONFIG_FD_STORE_DEFAULT);
	ck_assert_int_eq((int)node_config_extras(a)->notify_uid, -1);
	ck_assert_int_eq(node_config_extras(a)->notify_access, NOTIFY_ACCESS_USER);
	ck_assert_uint_eq(a->start_timeout_usec, 90 * USEC_PER_SEC);
	ck_assert_int_eq(a->stop_signal, SIGTERM);
	ck_assert_int_eq(a->signal_scope, SIGNAL_SCOPE_GROUP);
	ck_assert_int_eq(node_config_extras(a)->kill_signal, SIGKILL);
	ck_assert(a->kill_leftovers);
	ck_assert(!node_config_extras(a)->cgroup_memory_max &&
		  !node_config_extras(a)->cgroup_pids_max &&
		  !node_config_extras(a)->cgroup_cpu_weight);
	ck_assert_uint_eq(a->stop_timeout_usec, 10 * USEC_PER_SEC);
	ck_assert_uint_eq(a->drain_timeout_usec, 5 * 60 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_extras(a)->final_timeout_usec, 10 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_extras(a)->on_failure_timeout_usec, 30 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_extras(a)->on_failure_interval_usec, 60 * USEC_PER_SEC);
	ck_assert_int_eq(node_config_outputs(a)->log.kind, OUTPUT_DEFAULT);
	ck_assert_uint_eq(node_config_outputs(a)->log_size, UINT64_C(10) * 1024 * 1024);
	ck_assert_int_eq(node_config_outputs(a)->log_keep, 5);
	ck_assert_int_eq(a->umask, -1);
	ck_assert(!a->essential && !node_config_extras(a)->credentials.set &&
		  !node_config_extras(a)->credentials.set_group);
	ck_assert(!a->directory && !a->environment && !a->parts.attributes && !a->parts.edges);
	ck_assert_int_eq(b->type, TYPE_ONESHOT);
	ck_assert_int_eq(b->restart, RESTART_NEVER);
}
END_TEST

START_TEST(a_service_on_demand_has_an_idle_timeout)
{
	cleanup(config_unrefp) struct config *config = good(
		"[s]\ncommand = s\nautostart = on-demand\nlisten = unix:/s\nidle-timeout = 90s\n"
		"[t]\ncommand = t\nautostart = no\nidle-timeout = infinity\n[u]\ncommand = u\n");
	const struct node_config *s = only(config, "s"), *t = only(config, "t");

	ck_assert_int_eq(s->autostart, AUTOSTART_ON_DEMAND);
	ck_assert_uint_eq(node_config_extras(s)->idle_timeout_usec, 90 * USEC_PER_SEC);
	ck_assert_int_eq(t->autostart, AUTOSTART_NO);
	ck_assert_uint_eq(node_config_extras(t)->idle_timeout_usec, 0);
	ck_assert_int_eq(only(config, "u")->autostart, AUTOSTART_YES);
}
END_TEST

START_TEST(a_forking_service_has_a_pid_file)
{
	cleanup(config_unrefp) struct config *config =
		good("[g/s]\ncommand = s\ntype = forking\npid-file = /run/%n.pid\n");
	const struct node_config *s = only(config, "g/s");

	ck_assert_int_eq(s->type, TYPE_FORKING);
	ck_assert_str_eq(node_config_extras(s)->pid_file, "/run/g/s.pid");
}
END_TEST

START_TEST(a_service_with_sockets_can_hand_over)
{
	cleanup(config_unrefp) struct config *config =
		good("[g/s]\ncommand = s\nlisten = unix:/x\nhandover = yes\nhandover-max = 7\n"
		     "[t]\ncommand = s\n");
	const struct node_config *s = only(config, "g/s"), *t = only(config, "t");

	ck_assert(s->handover && !t->handover);
	ck_assert_uint_eq(node_config_extras(s)->handover_max, 7);
	ck_assert_uint_eq(node_config_extras(t)->handover_max, 3);
}
END_TEST

START_TEST(every_key_is_taken)
{
	cleanup(config_unrefp) struct config *config = good(
		"[swansong]\n"
		"control-socket = /run/s\ncontrol-group = adm\ncontrol-mode = 0600\nshutdown-timeout = 1min\n"
		"[g]\nuser = redis\nstrategy = rest-for-one\nstart-parallel = 4\npressure-stop = 20% over 1min\ninhibit = shutdown:sleep:block\n"
		"[g/s]\nshutdown-timeout = 5s\nrequires = o\nbinds-to = p\nafter = p \"o\"\n"
		"command = /bin/x \"a b\" %n\ntype = simple\nrestart = always\nrestart-delay = 1s\n"
		"restart-delay-max = 2s\nrestart-jitter = 20%\nrecycle-memory = 1M\nrecycle-age = 24h\nrestart-reset = 3s\nsettle-time = 9s\nrestart-limit = 3/1min\n"
		"success-status = 3 255 SIGPIPE USR1\non-failed = shutdown-parent\nready = tcp:[::1]:80\nstart-timeout = 4s\n"
		"condition = !path:/a/%n\ncondition = exec:x \"y z\"\nruntime-directory = %n\nstate-directory = a a/b:0700\nlog-directory = c\ncredential = a.b:/x/%n\ncredential = c:/y\n"
		"stop-signal = QUIT\nessential = yes\ngroup = adm\ndirectory = /srv\nroot-directory = /srv/%n\n"
		"environment = A=1 B=\nenvironment-clear = yes\nenvironment-pass = PATH _2\numask = 027\nstop-timeout = 6s\nstop-warning = 60%\ndrain-timeout = 7s\nstop-priority = -3\non-sleep = stop\nfinal-timeout = 8s\n"
		"on-event-command = tell c\non-failure-command = tell a\non-failure-command = tell b\non-failure-timeout = 3s\non-failure-interval = 4s\n"
		"on-success-start = o p\nlog = file:/l\n"
		"[o]\ncommand = o\ntype = oneshot\nrestart = on-failure\nschedule = daily 03:00\ntimezone = Asia/Tokyo\n[p]\n");
	const struct node_config *s = only(config, "g/s");
	struct node_config **edges;

	ck_assert_str_eq(config->control_socket, "/run/s");
	ck_assert_int_eq(s->stop_priority, -3);
	ck_assert_int_eq(s->stop_rank, -3);
	ck_assert(config->control_group == 4 && config->control_mode == 0600);
	ck_assert_uint_eq(config->nodes[0]->shutdown_timeout_usec, 60 * USEC_PER_SEC);
	ck_assert_uint_eq(s->shutdown_timeout_usec, 5 * USEC_PER_SEC);
	edges = node_config_edges(s, EDGE_REQUIRES);
	ck_assert(edges[0] == only(config, "o") && !edges[1]);
	ck_assert_uint_eq(s->parts.edges->places[EDGE_REQUIRES].line, 14);
	edges = node_config_edges(s, EDGE_BINDS_TO);
	ck_assert(edges[0] == only(config, "p") && !edges[1]);
	edges = node_config_edges(s, EDGE_AFTER);
	ck_assert(edges[0] == only(config, "p") && edges[1] == only(config, "o") && !edges[2]);
	ck_assert_str_eq(s->command, "/bin/x \"a b\" g/s");
	ck_assert_str_eq(s->argv[1], "a b");
	ck_assert_str_eq(s->argv[2], "g/s");
	ck_assert_ptr_null(s->argv[3]);
	ck_assert_int_eq(s->restart, RESTART_ALWAYS);
	ck_assert_uint_eq(s->restart_delay_usec, USEC_PER_SEC);
	ck_assert_uint_eq(s->restart_delay_max_usec, 2 * USEC_PER_SEC);
	ck_assert(s->restart_limit.count == 3 && s->restart_limit.window_usec == 60 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_extras(s)->restart_reset_usec, 3 * USEC_PER_SEC);
	ck_assert(node_config_extras(s)->success_status.codes[0] == 8 &&
		  node_config_extras(s)->success_status.codes[3] == UINT64_C(1) << 63);
	ck_assert_uint_eq(node_config_extras(s)->success_status.signals,
			  UINT64_C(1) << (SIGPIPE - 1) | UINT64_C(1) << (SIGUSR1 - 1));
	ck_assert_int_eq(s->on_failed, ON_FAILED_SHUTDOWN_PARENT);
	ck_assert_str_eq(node_config_extras(only(config, "o"))->timezone, "Asia/Tokyo");
	ck_assert_str_eq(node_config_extras(only(config, "o"))->schedule->calendar.zone, "Asia/Tokyo");
	ck_assert_str_eq(node_config_extras(s)->chains[CHAIN_SUCCESS][1], "p");
	ck_assert_ptr_null(node_config_extras(s)->chains[CHAIN_SUCCESS][2]);
	ck_assert_ptr_null(node_config_extras(s)->chains[CHAIN_FAILURE]);
	ck_assert_int_eq(s->parent->strategy, REST_FOR_ONE);
	ck_assert_uint_eq(node_config_extras(s->parent)->start_parallel, 4);
	ck_assert_int_eq(node_config_extras(s->parent)->inhibit, INHIBIT_SHUTDOWN | INHIBIT_SLEEP | INHIBIT_BLOCK);
	ck_assert(!node_config_extras(s->parent)->on_sleep && node_config_extras(s)->on_sleep == ON_SLEEP_STOP);
	ck_assert_uint_eq(node_config_extras(s->parent)->pressure_stop.percent, 20);
	ck_assert_uint_eq(node_config_extras(s->parent)->pressure_stop.window_usec, 60 * USEC_PER_SEC);
	ck_assert_int_eq(node_config_extras(s)->restart_jitter, 20);
	ck_assert_uint_eq(node_config_extras(s)->recycle_memory, 1 << 20);
	ck_assert_uint_eq(node_config_extras(s)->recycle_age_usec, 24 * 60 * 60 * USEC_PER_SEC);
	ck_assert_int_eq(s->ready.kind, PROBE_TCP);
	ck_assert_int_eq(s->ready.address->any.sa_family, AF_INET6);
	ck_assert_uint_eq(ntohs(s->ready.address->in6.sin6_port), 80);
	ck_assert(IN6_IS_ADDR_LOOPBACK(&s->ready.address->in6.sin6_addr));
	ck_assert_uint_eq(s->start_timeout_usec, 4 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_extras(s)->settle_time_usec, 9 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_hook(s, HOOK_CONDITION)->n, 2);
	ck_assert_str_eq(node_config_hook(s, HOOK_CONDITION)->argv[0][0], "!path:/a/g/s");
	ck_assert_str_eq(node_config_hook(s, HOOK_CONDITION)->argv[1][1], "y z");
	ck_assert_str_eq(node_config_extras(s)->folders[FOLDER_RUNTIME][0], "g/s");
	ck_assert_str_eq(node_config_extras(s)->folders[FOLDER_STATE][1], "a/b:0700");
	ck_assert_ptr_null(node_config_extras(s)->folders[FOLDER_STATE][2]);
	ck_assert_ptr_null(node_config_extras(s)->folders[FOLDER_CACHE]);
	ck_assert_str_eq(node_config_extras(s)->folders[FOLDER_LOG][0], "c");
	ck_assert_uint_eq(node_config_hook(s, HOOK_CREDENTIAL)->n, 2);
	ck_assert_str_eq(node_config_hook(s, HOOK_CREDENTIAL)->argv[0][0], "a.b:/x/g/s");
	ck_assert(node_config_has_hook(s, HOOK_RELOAD_COMMAND));
	ck_assert(node_config_has_hook(s, HOOK_START_COMMAND));
	ck_assert(node_config_has_hook(s, HOOK_POST_STOP));
	ck_assert(!node_config_has_hook(s, HOOK_STOP_COMMAND));
	ck_assert_int_eq(s->stop_signal, SIGQUIT);
	ck_assert(s->essential);
	ck_assert(node_config_extras(s)->credentials.set &&
		  node_config_extras(s)->credentials.set_group);
	ck_assert(node_config_extras(s)->credentials.uid == 100 &&
		  node_config_extras(s)->credentials.gid == 4);
	ck_assert_str_eq(node_config_extras(s)->credentials.user, "redis");
	ck_assert_str_eq(node_config_extras(s)->credentials.home, "/var/lib/redis");
	ck_assert_str_eq(node_config_extras(s)->credentials.shell, "/bin/sh");
	ck_assert_str_eq(s->directory, "/srv");
	ck_assert_str_eq(node_config_extras(s)->root_directory, "/srv/g/s");
	ck_assert_str_eq(s->environment[0], "A=1");
	ck_assert_str_eq(s->environment[1], "B=");
	ck_assert_ptr_null(s->environment[2]);
	ck_assert(node_config_extras(s)->environment_clear);
	ck_assert_str_eq(node_config_extras(s)->environment_pass[0], "PATH");
	ck_assert_str_eq(node_config_extras(s)->environment_pass[1], "_2");
	ck_assert_ptr_null(node_config_extras(s)->environment_pass[2]);
	ck_assert_int_eq(s->umask, 027);
	ck_assert_uint_eq(s->stop_timeout_usec, 6 * USEC_PER_SEC);
	ck_assert_int_eq(s->stop_warning, 60);
	ck_assert_uint_eq(s->drain_timeout_usec, 7 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_extras(s)->final_timeout_usec, 8 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_hook(s, HOOK_ON_FAILURE)->n, 2);
	ck_assert_str_eq(node_config_hook(s, HOOK_ON_FAILURE)->argv[1][1], "b");
	ck_assert_str_eq(node_config_hook(s, HOOK_ON_EVENT)->argv[0][1], "c");
	ck_assert_uint_eq(node_config_extras(s)->on_failure_timeout_usec, 3 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_extras(s)->on_failure_interval_usec, 4 * USEC_PER_SEC);
	ck_assert_int_eq(node_config_outputs(s)->log.kind, OUTPUT_FILE);
	ck_assert_str_eq(node_config_outputs(s)->log.path, "/l");
}
END_TEST

static void ready_is(const char *value, enum probe_kind kind, int fd, const char *address,
		     unsigned port)
{
	char text[128];

	(void)snprintf(text, sizeof(text), "[a]\ncommand = x\nready = %s\n", value);

	cleanup(config_unrefp) struct config *config = good(text);
	const struct probe_config *ready = &only(config, "a")->ready;

	ck_assert_int_eq(ready->kind, kind);
	ck_assert_int_eq(ready->fd, fd);
	if (!address)
		return;
	ck_assert_int_eq(ready->address->any.sa_family, AF_INET);
	ck_assert_str_eq(inet_ntoa(ready->address->in.sin_addr), address);
	ck_assert_uint_eq(ntohs(ready->address->in.sin_port), port);
}

START_TEST(variables_are_replaced_before_a_value_is_read)
{
	(void)setenv("TEST_SIGNAL", "QUIT", 1);
	(void)setenv("TEST_WORDS", "b %n", 1);
	(void)setenv("TEST_EMPTY", "", 1);
	(void)unsetenv("TEST_NONE");

	cleanup(config_unrefp) struct config *config = good(
		"[a]\ncommand = x%{TEST_EMPTY}%{TEST_NONE:-} %{TEST_WORDS}%{TEST_NONE:-c d} \"%{TEST_WORDS}\" %%{TEST_NONE}\n"
		"stop-signal = %{TEST_SIGNAL:-TERM}\nstop-timeout = %{TEST_NONE:-3}s\numask = 0%{TEST_EMPTY:-27}\n");
	const struct node_config *a = only(config, "a");
	static const char *const words[] = { "x", "b", "ac", "d", "b a", "%{TEST_NONE}" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		ck_assert_str_eq(a->argv[i], words[i]);
	ck_assert_ptr_null(a->argv[ARRAY_SIZE(words)]);
	ck_assert_int_eq(a->stop_signal, SIGQUIT);
	ck_assert_uint_eq(a->stop_timeout_usec, 3 * USEC_PER_SEC);
	ck_assert_int_eq(a->umask, 027);
}
END_TEST

START_TEST(keys_of_the_end_and_of_limits_are_read)
{
	cleanup(config_unrefp) struct config *config = good(
		"[a]\ncommand = x\nsignal-scope = main\nkill-signal = ABRT\nkill-leftovers = no\n"
		"cgroup-memory-max = 64K\ncgroup-memory-high = 32K\ncgroup-io-weight = 7\ncgroup-pids-max = 12\ncgroup-cpu-weight = 10000\n"
		"[b]\ncommand = x\nsignal-scope = all\n"
		"cgroup-memory-max = infinity\ncgroup-pids-max = infinity\n"
		"[c]\ncommand = x\nsignal-scope = group\ncgroup-memory-max = 16777215T\n"
		"[d]\ncommand = x\ncgroup-memory-max = 3000\n");
	const struct node_config *a = only(config, "a"), *b = only(config, "b");

	ck_assert_int_eq(a->signal_scope, SIGNAL_SCOPE_MAIN);
	ck_assert_int_eq(node_config_extras(a)->kill_signal, SIGABRT);
	ck_assert(!a->kill_leftovers);
	ck_assert_uint_eq(node_config_extras(a)->cgroup_memory_max, 64 * 1024);
	ck_assert_uint_eq(node_config_extras(a)->cgroup_pids_max, 12);
	ck_assert_uint_eq(node_config_extras(a)->cgroup_memory_high, 32768);
	ck_assert_uint_eq(node_config_extras(a)->cgroup_io_weight, 7);
	ck_assert_uint_eq(node_config_extras(a)->cgroup_cpu_weight, 10000);
	ck_assert_int_eq(b->signal_scope, SIGNAL_SCOPE_ALL);
	ck_assert(node_config_extras(b)->cgroup_memory_max == UINT64_MAX &&
		  node_config_extras(b)->cgroup_pids_max == UINT64_MAX);
	ck_assert_int_eq(only(config, "c")->signal_scope, SIGNAL_SCOPE_GROUP);
	ck_assert_uint_eq(node_config_extras(only(config, "c"))->cgroup_memory_max,
			  16777215ull << 40);
	ck_assert_uint_eq(node_config_extras(only(config, "d"))->cgroup_memory_max, 3000);
}
END_TEST

START_TEST(readiness_has_all_kinds)
{
	ready_is("started", PROBE_STARTED, 0, NULL, 0);
	ready_is("notify", PROBE_NOTIFY, 0, NULL, 0);
	ready_is("fd:3", PROBE_FD, 3, NULL, 0);
	ready_is("fd:1023", PROBE_FD, 1023, NULL, 0);
	ready_is("tcp:127.0.0.1:6379", PROBE_TCP, 0, "127.0.0.1", 6379);
	ready_is("tcp:localhost:65535", PROBE_TCP, 0, "127.0.0.1", 65535);
	ready_is("http://localhost:80", PROBE_HTTP, 0, "127.0.0.1", 80);
	ready_is("http://127.0.0.1:8080/a?b=%20:/", PROBE_HTTP, 0, "127.0.0.1", 8080);
	ready_is("unix:/run/x.sock", PROBE_UNIX, 0, NULL, 0);
	ready_is("exec:x \"a b\"", PROBE_EXEC, 0, NULL, 0);
	ready_is("log:^(a|b)+ 100% \\\\1$", PROBE_LOG, 0, NULL, 0);
}
END_TEST

START_TEST(probes_know_the_node)
{
	cleanup(config_unrefp) struct config *config =
		good("[w@]\ninstances = 2\ncommand = x\nready = exec:/c \"%i %n\" 5%%\n"
		     "[w@2]\nready = unix:/run/%i.sock\n");
	const struct probe_config *one = &only(config, "w@1")->ready,
				  *two = &only(config, "w@2")->ready;

	ck_assert_str_eq(one->argv[0], "/c");
	ck_assert_str_eq(one->argv[1], "1 w@1");
	ck_assert_str_eq(one->argv[2], "5%");
	ck_assert_ptr_null(one->argv[3]);
	ck_assert_int_eq(two->kind, PROBE_UNIX);
	ck_assert_str_eq(two->text, "/run/2.sock");
}
END_TEST

START_TEST(addresses_of_probes_know_the_node)
{
	cleanup(config_unrefp) struct config *config =
		good("[w@]\ninstances = 2\ncommand = x\nready = tcp:127.0.0.1:80%i\n"
		     "health = http://localhost:90%i/a%20b/%i?n=%n&c=%%\n"
		     "[w@2]\nready = tcp:127.0.0.1:802\nhealth = http://[::1]:80/%i\n");
	const struct node_config *one = only(config, "w@1"), *two = only(config, "w@2");
	const struct probe_config *health = &node_config_extras(one)->health;
	struct key_set set;

	ck_assert_int_eq(one->ready.kind, PROBE_TCP);
	ck_assert_int_eq(ntohs(values_inet_port(one->ready.address)), 801);
	ck_assert_ptr_null(one->ready.text);
	ck_assert_int_eq(ntohs(values_inet_port(two->ready.address)), 802);
	ck_assert_int_eq(ntohs(values_inet_port(health->address)), 901);
	ck_assert_str_eq(health->text, "localhost:901/a%20b/1?n=w@1&c=%%");
	ck_assert_str_eq(node_config_extras(two)->health.text, "[::1]:80/2");
	(void)node_config_diff(one, two, &set);
	ck_assert(key_set_has(&set, KEY_READY) && key_set_has(&set, KEY_HEALTH));
	bad("[w@a]\ncommand = x\nready = tcp:127.0.0.1:%i\n",
	    "f:3: [w@a] ready: invalid value '127.0.0.1:a': expected started, notify, fd:N with N "
	    "from 3 to 1023, tcp:ADDRESS:PORT or http://ADDRESS:PORT/PATH with an IPv4 address, an "
	    "[IPv6] address or localhost, unix:PATH, exec:COMMAND, or log:REGEX with a POSIX "
	    "extended regular expression\n");
}
END_TEST

START_TEST(sockets_are_read_with_their_options)
{
	cleanup(config_unrefp) struct config *config = good(
		"[w@2]\ncommand = x\nlisten = unix:/run/%i.sock,mode=0600,owner=redis,group=adm,"
		"name=%i\n  tcp:[::1]:80,name=web udp:127.0.0.1:53\n[w@3]\ncommand = x\n"
		"listen = udp:127.0.0.1:53 unix:/run/%i.sock\n");
	const struct listen *a = node_config_extras(only(config, "w@2"))->listen,
			    *b = node_config_extras(only(config, "w@3"))->listen;

	ck_assert_uint_eq(node_config_extras(only(config, "w@2"))->n_listen, 3);
	ck_assert_int_eq(a[0].kind, LISTEN_UNIX);
	ck_assert_str_eq(a[0].address, "/run/2.sock");
	ck_assert_str_eq(a[0].name, "2");
	ck_assert_uint_eq(a[0].mode, 0600);
	ck_assert_uint_eq(a[0].owner, 100);
	ck_assert_uint_eq(a[0].group, 4);
	ck_assert_int_eq(a[1].kind, LISTEN_TCP);
	ck_assert_str_eq(a[1].name, "web");
	ck_assert_int_eq(a[1].inet.any.sa_family, AF_INET6);
	ck_assert_uint_eq(ntohs(a[1].inet.in6.sin6_port), 80);
	ck_assert_int_eq(a[2].kind, LISTEN_UDP);
	ck_assert_str_eq(a[2].name, "listen");
	/* Shared, and of its own. */
	ck_assert_int_eq(listen_compare(&a[2], &b[0]), 0);
	ck_assert_int_ne(listen_compare(&a[0], &b[1]), 0);
	ck_assert_uint_eq(b[1].mode, 0660);
	ck_assert(b[1].owner == (uid_t)-1 && b[1].group == (gid_t)-1);
}
END_TEST

START_TEST(agent_has_a_socket_of_its_own)
{
	cleanup(config_unrefp) struct config *config =
		good("[swansong]\nagent = http://[::1]:81\n"
		     "[w@2]\ncommand = x\ndrain-delay = 1s\nagent = unix:/run/%i,mode=0600\n");
	const struct listen *root = node_config_extras(only(config, ""))->agent,
			    *w = node_config_extras(only(config, "w@2"))->agent;

	ck_assert_int_eq(root->kind, LISTEN_HTTP);
	ck_assert_uint_eq(ntohs(root->inet.in6.sin6_port), 81);
	ck_assert_str_eq(w->address, "/run/2");
	ck_assert_uint_eq(w->mode, 0600);
	ck_assert_ptr_null(w->name);
	bad("[a]\nagent = http://127.0.0.1:80\n[b]\ncommand = x\ndrain-delay = 1s\n"
	    "listen = tcp:127.0.0.1:80\n",
	    "f:6: [b] listen: invalid value 'tcp:127.0.0.1:80': the socket is used elsewhere, and an "
	    "agent needs its own; expected ");
}
END_TEST

START_TEST(agent_without_a_drain_delay_is_warned_of)
{
	cleanup(config_unrefp) struct config *config = NULL;
	struct texts texts = {};

	ck_assert_int_eq(load_text(&config,
				   "[g]\nagent = unix:/a\n[g/s]\ncommand = x\n"
				   "[o]\nagent = unix:/b\n[o/s]\ncommand = x\ndrain-delay = 1s\n",
				   &texts),
			 0);
	ck_assert_str_eq(
		texts.all,
		"warning: f:2: [g] agent: has no effect in time, as services are signalled "
		"at once: set drain-delay, for example drain-delay = 5s\n");
}
END_TEST

START_TEST(chain_to_a_node_that_cannot_start_is_warned_of)
{
	cleanup(config_unrefp) struct config *config = NULL;
	struct texts texts = {};

	ck_assert_int_eq(load_text(&config,
				   "[a]\ncommand = x\non-success-start = %n b\non-failure-start = w@ v@ %nn b/d\n"
				   "[b/c]\ncommand = x\n[w@]\ninstances = 2\ncommand = x\n",
				   &texts),
			 0);
	ck_assert_str_eq(texts.all,
			 "warning: f:3: [a] on-success-start: 'a' contains this service: restart = always "
			 "starts it again\n"
			 "warning: f:4: [a] on-failure-start: no node 'v@': expected a node of this configuration\n"
			 "warning: f:4: [a] on-failure-start: no node 'an': did you mean 'a'?\n"
			 "warning: f:4: [a] on-failure-start: no node 'b/d': did you mean 'b/c'?\n");
	bad("[a]\ncommand = x\non-success-start =\n", "f:3: [a] on-success-start: invalid value ''");
}
END_TEST

START_TEST(time_zone_is_one_that_exists)
{
	cleanup(config_unrefp) struct config *config = NULL;
	struct texts texts = {};

	ck_assert_int_eq(load_text(&config, "[a]\ncommand = x\nschedule = 5min\ntimezone = Europe/Berlin\n", &texts), 0);
	ck_assert_str_eq(texts.all, "warning: f:4: [a] timezone: has no effect without a calendar: set schedule, "
				    "for example daily 03:00\n");
	bad("[a]\ncommand = x\nschedule = daily\ntimezone = Europe/Atlantis\n",
	    "f:4: [a] timezone: invalid value 'Europe/Atlantis': no such time zone in /usr/share/zoneinfo/; expected "
	    "the name of a time zone, for example Europe/Berlin");
	bad("[a]\ncommand = x\nschedule = daily\ntimezone = ../passwd\n", "f:4: [a] timezone: invalid value '../passwd'");
	bad("[a]\ncommand = x\nschedule = daily\ntimezone = Europe\n", "f:4: [a] timezone: invalid value 'Europe'");
	bad("[a]\ncommand = x\nschedule = daily\ntimezone = tzdata.zi\n", "f:4: [a] timezone: invalid value 'tzdata.zi'");
	bad("[a]\ncommand = x\nschedule = daily\ntimezone =\n", "f:4: [a] timezone: invalid value ''");
	bad("[a]\ntimezone = UTC\n", "f:2: [a] timezone: only services have this key");
}
END_TEST

START_TEST(drain_quiet_without_connections_to_see_is_warned_of)
{
	in_port_t ports[NODE_CONFIG_PORTS_MAX];
	cleanup(config_unrefp) struct config *config = NULL;
	struct texts texts = {};

	ck_assert_int_eq(load_text(&config,
				   "[a]\ncommand = x\ndrain-quiet = 1s\n"
				   "[b]\ncommand = x\ndrain-delay = 9s\ndrain-quiet = 1s\n"
				   "[c]\ncommand = x\ndrain-delay = 9s\ndrain-quiet = 1s\n"
				   "health = http://[::1]:81/\n",
				   &texts),
			 0);
	ck_assert_ptr_nonnull(strstr(texts.all, "f:3: [a] drain-quiet: has no effect without"));
	ck_assert_ptr_nonnull(strstr(texts.all, "f:7: [b] drain-quiet: has no effect, as its"));
	ck_assert_ptr_null(strstr(texts.all, "[c]"));
	ck_assert_uint_eq(node_config_ports(only(config, "c"), ports), 1);
	ck_assert_uint_eq(ntohs(ports[0]), 81);
	ck_assert_uint_eq(node_config_ports(only(config, "b"), ports), 0);
}
END_TEST

START_TEST(a_shared_socket_has_the_same_options_in_all_sections)
{
	bad("[a]\ncommand = x\nlisten = unix:/x,mode=600\n[b]\ncommand = x\nlisten = unix:/x\n",
	    "f:6: [b] listen: invalid value 'unix:/x': another section has the socket with another mode, owner or group");
}
END_TEST

START_TEST(readiness_has_a_descriptor_of_its_own)
{
	bad("[a]\ncommand = x\nready = fd:4\nlisten = unix:/x unix:/y\n",
	    "f:3: [a] ready: 'fd:4' is among the descriptors of listen and fd-store-max: expected "
	    "fd:5 or above");
	bad("[a]\ncommand = x\nready = fd:9\nfd-store-max = 7\n",
	    "f:3: [a] ready: 'fd:9' is among");
	config_unref(good("[a]\ncommand = x\nready = fd:5\nlisten = unix:/x unix:/y\n"));
	config_unref(good("[a]\ncommand = x\nready = fd:3\nnotify = yes\n"));
	config_unref(good("[a]\ncommand = x\nready = fd:10\nfd-store-max = 7\n"));
}
END_TEST

START_TEST(a_service_may_have_a_sandbox)
{
	cleanup(config_unrefp) struct config *config =
		good("[swansong]\nprivate-tmp = yes\nwrite-paths = /var/lib/%n -/srv\n"
		     "[a]\ncommand = x\nread-paths = /etc\ntcp-bind = 80 443\ntcp-connect = none\n"
		     "system-calls = @system-service ~ptrace\nsandbox = best-effort\n"
		     "[b]\ncommand = x\nprivate-tmp = no\nprivate-network = yes\nhide-home = read-only\n"
		     "read-only-system = full\nprivate-devices = yes\nprivate-users = yes\n"
		     "protect = all ~clock\naddress-families = unix inet\n");
	const struct sandbox *a = only(config, "a")->parts.sandbox,
			     *b = only(config, "b")->parts.sandbox;

	ck_assert(a->private_tmp && !a->private_network);
	ck_assert_str_eq(a->write_paths[0], "/var/lib/a");
	ck_assert_str_eq(a->write_paths[1], "-/srv");
	ck_assert_str_eq(a->read_paths[0], "/etc");
	ck_assert_str_eq(a->tcp_bind[1], "443");
	ck_assert_str_eq(a->tcp_connect[0], "none");
	ck_assert_str_eq(a->system_calls[1], "~ptrace");
	ck_assert_int_eq(a->mode, SANDBOX_BEST_EFFORT);
	ck_assert(!b->private_tmp && b->private_network);
	ck_assert_int_eq(b->hide_home, HIDE_HOME_READ_ONLY);
	ck_assert_int_eq(b->read_only_system, READ_ONLY_FULL);
	ck_assert_int_eq(b->mode, SANDBOX_STRICT);
	ck_assert(!a->private_devices && b->private_devices && b->private_users);
	ck_assert_str_eq(b->protect[1], "~clock");
	ck_assert_str_eq(b->address_families[1], "inet");
	bad("[a]\ncommand = x\nprotect = all clocks\n",
	    "f:3: [a] protect: invalid value 'all clocks': expected");
	bad("[a]\ncommand = x\nprotect =\n", "f:3: [a] protect: invalid value '': expected");
	bad("[a]\ncommand = x\naddress-families = AF_INET\n",
	    "f:3: [a] address-families: invalid value 'AF_INET': expected");
	bad("[a]\ncommand = x\nwrite-paths = srv\n",
	    "f:3: [a] write-paths: invalid value 'srv': not an absolute path");
	bad("[a]\ncommand = x\ntcp-bind = 0\n", "f:3: [a] tcp-bind: invalid value '0': expected");
	bad("[a]\ncommand = x\ntcp-bind = none 80\n",
	    "f:3: [a] tcp-bind: invalid value 'none 80': expected");
	bad("[a]\ncommand = x\ntcp-connect =\n",
	    "f:3: [a] tcp-connect: invalid value '': expected");
	bad("[a]\ncommand = x\nsystem-calls = ~~x\n",
	    "f:3: [a] system-calls: invalid value '~~x': expected");
	bad("[a]\ncommand = x\nsystem-calls = @A\n",
	    "f:3: [a] system-calls: invalid value '@A': expected");
	bad("[a]\ncommand = x\nhide-home = maybe\n",
	    "f:3: [a] hide-home: invalid value 'maybe': expected");
}
END_TEST

static bool has_socket(const char *lines)
{
	cleanup(config_unrefp) struct config *config = NULL;
	char text[256];

	(void)snprintf(text, sizeof(text), "[a]\ncommand = x\n%s", lines);
	config = good(text);
	return only(config, "a")->notify;
}

START_TEST(a_notification_socket_is_given_if_a_key_needs_it)
{
	ck_assert(!has_socket(""));
	ck_assert(has_socket("ready = notify\n"));
	ck_assert(has_socket("watchdog = 5s\n"));
	ck_assert(!has_socket("watchdog = infinity\n"));
	ck_assert(has_socket("fd-store-max = 4\n"));
	ck_assert(!has_socket("fd-store-max = 0\n"));
	ck_assert(has_socket("notify = yes\n"));
	ck_assert(has_socket("ready = notify\nnotify = yes\nfd-store-max = 0\n"));
	ck_assert(!has_socket("notify = no\n"));
	bad("[a]\ncommand = x\nnotify = no\nready = notify\n",
	    "f:3: [a] notify: 'no' contradicts ready = notify: expected yes");
	bad("[a]\ncommand = x\nnotify = no\nwatchdog = 1s\n",
	    "f:3: [a] notify: 'no' contradicts watchdog: expected yes");
	bad("[a]\ncommand = x\nnotify = no\nfd-store-max = 1\n",
	    "f:3: [a] notify: 'no' contradicts fd-store-max: expected yes");
}
END_TEST

START_TEST(a_bad_command_is_refused)
{
	bad("[a]\ncommand =\n",
	    "f:2: [a] command: invalid value '': no program; expected a program");
	bad("[a]\ncommand = '' x\n", "f:2: [a] command: invalid value ''' x': no program");
	bad("[a]\ncommand = x \"y\n",
	    "f:2: [a] command: invalid value 'x \"y': open quote or backslash at the end");
	bad("[a]\ncommand = x \\\n",
	    "f:2: [a] command: invalid value 'x \\': open quote or backslash at the end");
	bad("[a]\ncommand = x %h\n", "f:2: [a] command: invalid value 'x %h': unknown %");
	bad("[a]\ncommand = x 100%\n", "f:2: [a] command: invalid value 'x 100%': unknown %");
}
END_TEST

static void check_commands(const struct node_config *node, enum hook_kind kind, size_t n,
			   const char *first)
{
	const struct commands *commands = node_config_hook(node, kind);

	ck_assert_uint_eq(commands->n, n);
	if (n > 0)
		ck_assert_str_eq(commands->argv[0][0], first);
}

START_TEST(a_command_key_may_be_repeated)
{
	cleanup(config_unrefp) struct config *config =
		good("[a@1]\ncommand = x\nstart-command = one %n\n    two\n\n"
		     "start-command = three\npost-stop = four\n");
	const struct node_config *a = only(config, "a@1");

	check_commands(a, HOOK_START_COMMAND, 2, "one");
	ck_assert_str_eq(node_config_hook(a, HOOK_START_COMMAND)->argv[0][1], "a@1");
	ck_assert_str_eq(node_config_hook(a, HOOK_START_COMMAND)->argv[0][2], "two");
	ck_assert_ptr_null(node_config_hook(a, HOOK_START_COMMAND)->argv[0][3]);
	ck_assert_str_eq(node_config_hook(a, HOOK_START_COMMAND)->argv[1][0], "three");
	check_commands(a, HOOK_POST_STOP, 1, "four");
	check_commands(a, HOOK_POST_START, 0, NULL);
	check_commands(config->nodes[0], HOOK_POST_START, 0, NULL);
}
END_TEST

START_TEST(a_reload_is_a_signal_or_a_command)
{
	bad("[a]\ncommand = x\nreload-signal = USR1\nreload-command = y\n",
	    "f:3: [a] reload-signal: contradicts reload-command: set one of the two");
	bad("[swansong]\nexit-when = some\n",
	    "f:2: [swansong] exit-when: invalid value 'some': expected any, all or never");
	bad("[swansong]\nexit-on-signal = 143\n",
	    "f:2: [swansong] exit-on-signal: invalid value '143': expected 0 or 128+n");
}
END_TEST

START_TEST(the_logger_may_have_a_user)
{
	cleanup(config_unrefp) struct config *config =
		good("[swansong]\nlog-user = redis\n[a]\ncommand = x\n");

	ck_assert(config->log_user.set);
	ck_assert_str_eq(config->log_user.user, "redis");
	bad("[swansong]\nlog-user = 4711\n",
	    "f:2: [swansong] log-user: no user has the number 4711: expected a user with a group, for example nobody");
	bad("[a]\nlog-user = redis\n", "f:2: [a] log-user: wrong section: expected in [swansong]");
}
END_TEST

START_TEST(a_report_is_a_file)
{
	cleanup(config_unrefp) struct config *config = good(
		"[swansong]\nreport = /var/lib/r.json\nhistory = none\nstate = /var/lib/s\n[a]\ncommand = x\n");

	ck_assert_str_eq(config->report, "/var/lib/r.json");
	ck_assert_str_eq(config->history, "none");
	ck_assert_str_eq(config->state, "/var/lib/s");
	bad("[swansong]\nreport = r.json\n",
	    "f:2: [swansong] report: invalid value 'r.json': not an absolute path; expected the absolute path of a file");
	bad("[swansong]\nreport = /var/lib/\n",
	    "f:2: [swansong] report: invalid value '/var/lib/': a directory");
	bad("[swansong]\nreport = /dev/null\n",
	    "f:2: [swansong] report: invalid value '/dev/null': below /dev, among devices");
	config_unref(good("[swansong]\nreport = /dev/shm/r.json\n[a]\ncommand = x\n"));
	bad("[a]\nreport = /r\n", "f:2: [a] report: wrong section: expected in [swansong]");
}
END_TEST

START_TEST(files_of_output_have_limits)
{
	cleanup(config_unrefp) struct config *config = good(
		"[swansong]\nlog-keep = 7\n[a]\ncommand = x\nlog-size = 1M\nlog-age = 1d\n"
		"log-compress = yes\nlog-timestamp = iso-usec-local\nlog-full = block\n"
		"log-format = json\nlog-group = 4\n[b]\ncommand = x\nlog-keep = 0\nlog-size = infinity\n");
	const struct outputs *a = node_config_outputs(only(config, "a"));
	const struct outputs *b = node_config_outputs(only(config, "b"));

	ck_assert_uint_eq(a->log_size, 1024 * 1024);
	ck_assert_uint_eq(a->log_age_usec, 24 * 60 * 60 * USEC_PER_SEC);
	ck_assert_int_eq(a->log_keep, 7);
	ck_assert(a->log_compress);
	ck_assert_int_eq(a->log_timestamp, LOG_TIMESTAMP_ISO_USEC_LOCAL);
	ck_assert_int_eq(a->log_full, LOG_FULL_BLOCK);
	ck_assert_int_eq(a->log_format, LOG_FORMAT_JSON);
	ck_assert_uint_eq(a->log_group, 4);
	ck_assert_uint_eq(b->log_group, (gid_t)-1);
	ck_assert_int_eq(b->log_format, LOG_FORMAT_DEFAULT);
	ck_assert_uint_eq(b->log_size, UINT64_MAX);
	ck_assert_uint_eq(b->log_age_usec, 0);
	ck_assert_int_eq(b->log_keep, 0);
	bad("[a]\nlog-keep = 10000\n",
	    "f:2: [a] log-keep: invalid value '10000': expected a number from 0 to 9999");
}
END_TEST

TCase *config_values_tests(void)
{
	TCase *tc = config_case("values");

	tcase_add_test(tc, defaults_are_those_of_the_manual);
	tcase_add_test(tc, a_service_on_demand_has_an_idle_timeout);
	tcase_add_test(tc, a_forking_service_has_a_pid_file);
	tcase_add_test(tc, a_service_with_sockets_can_hand_over);
	tcase_add_test(tc, every_key_is_taken);
	tcase_add_test(tc, variables_are_replaced_before_a_value_is_read);
	tcase_add_test(tc, keys_of_the_end_and_of_limits_are_read);
	tcase_add_test(tc, readiness_has_all_kinds);
	tcase_add_test(tc, probes_know_the_node);
	tcase_add_test(tc, addresses_of_probes_know_the_node);
	tcase_add_test(tc, sockets_are_read_with_their_options);
	tcase_add_test(tc, agent_has_a_socket_of_its_own);
	tcase_add_test(tc, agent_without_a_drain_delay_is_warned_of);
	tcase_add_test(tc, chain_to_a_node_that_cannot_start_is_warned_of);
	tcase_add_test(tc, time_zone_is_one_that_exists);
	tcase_add_test(tc, drain_quiet_without_connections_to_see_is_warned_of);
	tcase_add_test(tc, a_shared_socket_has_the_same_options_in_all_sections);
	tcase_add_test(tc, readiness_has_a_descriptor_of_its_own);
	tcase_add_test(tc, a_notification_socket_is_given_if_a_key_needs_it);
	tcase_add_test(tc, a_bad_command_is_refused);
	tcase_add_test(tc, a_command_key_may_be_repeated);
	tcase_add_test(tc, a_reload_is_a_signal_or_a_command);
	tcase_add_test(tc, the_logger_may_have_a_user);
	tcase_add_test(tc, a_report_is_a_file);
	tcase_add_test(tc, files_of_output_have_limits);
	tcase_add_test(tc, a_service_may_have_a_sandbox);
	return tc;
}
