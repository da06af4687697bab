#include "main.h"
#include "nomem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "model/config.h"
#include "model/diff.h"
#include "model/keys.h"

static char directory[64];

static void make_directory(void)
{
	(void)snprintf(directory, sizeof(directory), "/tmp/test-config-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
	(void)umask(022);
}

static void remove_directory(void)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *name, const char *text, size_t size)
{
	FILE *f = fopen(name, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, size, f), size);
	ck_assert_int_eq(fclose(f), 0);
}

static int find_user(const char *name, uid_t *uid, gid_t *gid, char **home, char **shell)
{
	bool known = strcmp(name, "redis") == 0 || strcmp(name, "100") == 0;

	if (strcmp(name, "broken") == 0)
		return -EIO;
	if (!known)
		return -ENOENT;
	*home = strdup("/var/lib/redis");
	*shell = *home ? strdup("/bin/sh") : NULL;
	if (!*shell)
		return -ENOMEM;
	*uid = 100;
	*gid = 101;
	return 0;
}

static int find_group(const char *name, gid_t *gid)
{
	if (strcmp(name, "adm") != 0)
		return -ENOENT;
	*gid = 4;
	return 0;
}

static const struct config_names names = { find_user, find_group };

struct texts {
	char all[32768];
	size_t used;
};

static void collect(enum diag_level level, const char *text, void *arg)
{
	struct texts *texts = arg;
	int n = snprintf(texts->all + texts->used, sizeof(texts->all) - texts->used, "%s%s\n",
			 level == DIAG_WARNING ? "warning: " : "", text);

	texts->used = MIN(texts->used + (size_t)n, sizeof(texts->all) - 1);
}

/* Loads the files, and leaves all entries in @texts. */
static int load(struct config **ret, const char *const *paths, size_t n, struct texts *texts)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	int r;

	*texts = (struct texts){ .used = 0 };
	ck_assert_int_eq(diag_new(&diag), 0);
	r = config_load(ret, paths, n, &names, diag);
	diag_each(diag, collect, texts);
	ck_assert_int_eq(r == -EINVAL, diag_errors(diag) > 0);
	return r;
}

static int load_text(struct config **ret, const char *text, struct texts *texts)
{
	static const char *const path = "f";

	write_file(path, text, strlen(text));
	return load(ret, &path, 1, texts);
}

static struct config *good(const char *text)
{
	struct config *config = NULL;
	struct texts texts;

	ck_assert_msg(load_text(&config, text, &texts) == 0, "%s", texts.all);
	ck_assert_str_eq(texts.all, "");
	return config;
}

/* The configuration is refused, with @expected as the beginning of the only mistake. */
static void bad(const char *text, const char *expected)
{
	struct config *config = NULL;
	struct texts texts;

	ck_assert_msg(load_text(&config, text, &texts) == -EINVAL, "taken: %s", text);
	ck_assert_ptr_null(config);
	ck_assert_msg(strncmp(texts.all, expected, strlen(expected)) == 0, "'%s' is not '%s'",
		      texts.all, expected);
	ck_assert_msg(strchr(texts.all, '\n') == texts.all + texts.used - 1,
		      "more than one mistake: %s", texts.all);
}

static struct node_config *only(const struct config *config, const char *path)
{
	struct node_config *node = config_find(config, path);

	ck_assert_ptr_nonnull(node);
	ck_assert_str_eq(node->path, path);
	return node;
}

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
	ck_assert(!config->control_group_set);

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
	ck_assert_int_eq(node_config_outputs(a)->log.kind, OUTPUT_INHERIT);
	ck_assert_int_eq(a->umask, -1);
	ck_assert(!a->essential && !node_config_extras(a)->credentials.set &&
		  !node_config_extras(a)->credentials.set_group);
	ck_assert(!a->directory && !a->environment && !a->attributes && !a->edges);
	ck_assert_int_eq(b->type, TYPE_ONESHOT);
	ck_assert_int_eq(b->restart, RESTART_NEVER);
}
END_TEST

START_TEST(every_key_is_taken)
{
	cleanup(config_unrefp) struct config *config = good(
		"[swansong]\n"
		"control-socket = /run/s\ncontrol-group = adm\ncontrol-mode = 0600\nshutdown-timeout = 1min\n"
		"[g]\nuser = redis\nstrategy = rest-for-one\n"
		"[g/s]\nshutdown-timeout = 5s\nrequires = o\nafter = p \"o\"\n"
		"command = /bin/x \"a b\" %n\ntype = simple\nrestart = always\nrestart-delay = 1s\n"
		"restart-delay-max = 2s\nrestart-reset = 3s\nrestart-limit = 3/1min\n"
		"success-status = 3 255 SIGPIPE USR1\non-failed = shutdown-parent\nready = tcp:[::1]:80\nstart-timeout = 4s\n"
		"stop-signal = QUIT\nessential = yes\ngroup = adm\ndirectory = /srv\n"
		"environment = A=1 B=\numask = 027\nstop-timeout = 6s\ndrain-timeout = 7s\nfinal-timeout = 8s\nlog = file:/l\n"
		"[o]\ncommand = o\ntype = oneshot\nrestart = on-failure\n[p]\n");
	const struct node_config *s = only(config, "g/s");
	struct node_config **edges;

	ck_assert_str_eq(config->control_socket, "/run/s");
	ck_assert(config->control_group_set && config->control_group == 4 &&
		  config->control_mode == 0600);
	ck_assert_uint_eq(config->nodes[0]->shutdown_timeout_usec, 60 * USEC_PER_SEC);
	ck_assert_uint_eq(s->shutdown_timeout_usec, 5 * USEC_PER_SEC);
	edges = node_config_edges(s, EDGE_REQUIRES);
	ck_assert(edges[0] == only(config, "o") && !edges[1]);
	ck_assert_uint_eq(s->edges->lines[EDGE_REQUIRES], 11);
	edges = node_config_edges(s, EDGE_AFTER);
	ck_assert(edges[0] == only(config, "p") && edges[1] == only(config, "o") && !edges[2]);
	ck_assert_str_eq(s->command, "/bin/x \"a b\" %n");
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
	ck_assert_int_eq(s->parent->strategy, REST_FOR_ONE);
	ck_assert_int_eq(s->ready.kind, PROBE_TCP);
	ck_assert_int_eq(s->ready.address->any.sa_family, AF_INET6);
	ck_assert_uint_eq(ntohs(s->ready.address->in6.sin6_port), 80);
	ck_assert(IN6_IS_ADDR_LOOPBACK(&s->ready.address->in6.sin6_addr));
	ck_assert_uint_eq(s->start_timeout_usec, 4 * USEC_PER_SEC);
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
	ck_assert_str_eq(s->environment[0], "A=1");
	ck_assert_str_eq(s->environment[1], "B=");
	ck_assert_ptr_null(s->environment[2]);
	ck_assert_int_eq(s->umask, 027);
	ck_assert_uint_eq(s->stop_timeout_usec, 6 * USEC_PER_SEC);
	ck_assert_uint_eq(s->drain_timeout_usec, 7 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_extras(s)->final_timeout_usec, 8 * USEC_PER_SEC);
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

START_TEST(what_ends_it_and_bounds_it_is_taken)
{
	cleanup(config_unrefp) struct config *config = good(
		"[a]\ncommand = x\nsignal-scope = main\nkill-signal = ABRT\nkill-leftovers = no\n"
		"cgroup-memory-max = 64K\ncgroup-pids-max = 12\ncgroup-cpu-weight = 10000\n"
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

START_TEST(readiness_has_its_ways)
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

START_TEST(what_is_shared_is_the_same_for_all)
{
	bad("[a]\ncommand = x\nlisten = unix:/x,mode=600\n[b]\ncommand = x\nlisten = unix:/x\n",
	    "f:6: [b] listen: 'unix:/x' has another mode, owner or group in another section");
}
END_TEST

START_TEST(readiness_has_a_descriptor_of_its_own)
{
	bad("[a]\ncommand = x\nready = fd:4\nlisten = unix:/x unix:/y\n",
	    "f:3: [a] ready: 'fd:4' is among the descriptors of listen and fd-store-max, allowed is "
	    "fd:5 and above");
	bad("[a]\ncommand = x\nready = fd:9\nfd-store-max = 7\n",
	    "f:3: [a] ready: 'fd:9' is among");
	config_unref(good("[a]\ncommand = x\nready = fd:5\nlisten = unix:/x unix:/y\n"));
	config_unref(good("[a]\ncommand = x\nready = fd:3\nnotify = yes\n"));
	config_unref(good("[a]\ncommand = x\nready = fd:10\nfd-store-max = 7\n"));
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

START_TEST(a_socket_is_given_to_whom_something_is_asked_of_on_it)
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
	bad("[a]\ncommand = x\nnotify = no\nready = notify\n", "f:3: [a] notify: 'no' leaves");
	bad("[a]\ncommand = x\nnotify = no\nwatchdog = 1s\n", "f:3: [a] notify: 'no' leaves");
	bad("[a]\ncommand = x\nnotify = no\nfd-store-max = 1\n", "f:3: [a] notify: 'no' leaves");
}
END_TEST

START_TEST(values_are_inherited_downward)
{
	cleanup(config_unrefp) struct config *config = good(
		"[swansong]\nstop-timeout = 3s\ndrain-timeout = 4s\numask = 077\n"
		"environment = A=1 B=%n C=3\nlog = file:/log/%n\n"
		"[g]\nuser = redis\nenvironment = B=g\ndirectory = /d/%n\n"
		"[g/h/s]\ncommand = x\nenvironment = C=s D=%i%%\n[g/t@7@x]\ncommand = y\nlog = null\nuser = 7\ngroup = adm\n"
		"environment = I=%i\n[u]\ncommand = z\nstop-timeout = 0\ndrain-timeout = infinity\n");
	const struct node_config *s = only(config, "g/h/s"), *t = only(config, "g/t@7@x"),
				 *u = only(config, "u");
	static const char *const of_s[] = { "A=1", "B=g", "C=s", "D=%" },
				 *const of_t[] = { "A=1", "B=g", "C=3", "I=7@x" },
				 *const of_u[] = { "A=1", "B=u", "C=3" };

	for (size_t i = 0; i < 4; i++) {
		ck_assert_str_eq(s->environment[i], of_s[i]);
		ck_assert_str_eq(t->environment[i], of_t[i]);
	}
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(u->environment[i], of_u[i]);
	ck_assert(!s->environment[4] && !t->environment[4] && !u->environment[3]);
	ck_assert_str_eq(node_config_outputs(s)->log.path, "/log/g/h/s");
	ck_assert_str_eq(node_config_outputs(u)->log.path, "/log/u");
	ck_assert(node_config_outputs(t)->log.kind == OUTPUT_NULL &&
		  !node_config_outputs(t)->log.path);
	ck_assert_str_eq(s->directory, "/d/g/h/s");
	ck_assert_ptr_null(u->directory);
	ck_assert(node_config_extras(s)->credentials.uid == 100 &&
		  node_config_extras(s)->credentials.gid == 101 &&
		  !node_config_extras(s)->credentials.set_group);
	ck_assert(node_config_extras(t)->credentials.uid == 7 &&
		  node_config_extras(t)->credentials.gid == 4 &&
		  !node_config_extras(t)->credentials.home);
	ck_assert_str_eq(node_config_extras(t)->credentials.user, "7");
	ck_assert(!node_config_extras(u)->credentials.set);
	ck_assert_int_eq(u->umask, 077);
	ck_assert_uint_eq(s->stop_timeout_usec, 3 * USEC_PER_SEC);
	ck_assert_uint_eq(u->stop_timeout_usec, 0);
	ck_assert_uint_eq(s->drain_timeout_usec, 4 * USEC_PER_SEC);
	ck_assert_uint_eq(u->drain_timeout_usec, USEC_INFINITY);
	ck_assert_uint_eq(only(config, "g")->stop_timeout_usec, 3 * USEC_PER_SEC);
}
END_TEST

static void limit_is(const struct node_config *node, int resource, rlim_t soft, rlim_t hard)
{
	const struct rlimit *limit = &node->attributes->limits[resource];

	ck_assert_uint_eq(limit->rlim_cur, soft);
	ck_assert_uint_eq(limit->rlim_max, hard);
}

START_TEST(attributes_are_inherited_one_by_one)
{
	cleanup(config_unrefp) struct config *config = good(
		"[g]\nlimit-nofile = 100:200\nlimit-core = infinity\nnice = -20\noom-score-adjust = 1000\n"
		"[g/s]\ncommand = x\nlimit-nofile = 7\nlimit-stack = 64K:1G\nnice = 19\n[a]\ncommand = y\n");
	const struct node_config *s = only(config, "g/s");

	limit_is(s, RLIMIT_NOFILE, 7, 7);
	limit_is(s, RLIMIT_CORE, RLIM_INFINITY, RLIM_INFINITY);
	limit_is(s, RLIMIT_STACK, 65536, 1 << 30);
	ck_assert(!limit_is_set(&s->attributes->limits[RLIMIT_CPU]));
	ck_assert_int_eq(s->attributes->nice, 19);
	ck_assert_int_eq(s->attributes->oom_score_adjust, 1000);
	ck_assert_int_eq(s->attributes->io_priority, ATTRIBUTE_KEEP);
	ck_assert_int_eq(CPU_COUNT(&s->attributes->cpus), 0);
	ck_assert_ptr_null(only(config, "a")->attributes);
}
END_TEST

/* A list of processors says the same however it is written. */
START_TEST(processors_are_a_list)
{
	static const char *const same[] = { "0-3,7", "7,0-3", "0,1,2,3,7", "2-3,0-2,7-7" };

	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		char text[128];

		(void)snprintf(text, sizeof(text), "[a]\ncommand = x\ncpu-affinity = %s\n",
			       same[i]);

		cleanup(config_unrefp) struct config *config = good(text);
		const cpu_set_t *cpus = &only(config, "a")->attributes->cpus;

		ck_assert_int_eq(CPU_COUNT(cpus), 5);
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			ck_assert(!!CPU_ISSET(cpu, cpus) == (cpu < 4 || cpu == 7));
	}
}
END_TEST

START_TEST(an_io_class_has_a_level)
{
	const struct {
		const char *text;
		int priority;
	} classes[] = {
		{ "none", 0 },
		{ "idle", IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0) },
		{ "best-effort", IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4) },
		{ "best-effort:0", IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 0) },
		{ "realtime:7", IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 7) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		char text[128];

		(void)snprintf(text, sizeof(text), "[a]\ncommand = x\nio-class = %s\n",
			       classes[i].text);

		cleanup(config_unrefp) struct config *config = good(text);

		ck_assert_int_eq(only(config, "a")->attributes->io_priority, classes[i].priority);
	}
}
END_TEST

static uint64_t capabilities_of(const char *value)
{
	char text[128];

	(void)snprintf(text, sizeof(text), "[g]\ncapabilities = none\n[g/a]\ncommand = x\n%s%s\n",
		       *value ? "capabilities = " : "", value);

	cleanup(config_unrefp) struct config *config = good(text);

	return only(config, "g/a")->attributes->capabilities;
}

START_TEST(capabilities_have_their_names)
{
	ck_assert_uint_eq(capabilities_of(""), 0);
	ck_assert_uint_eq(capabilities_of("none"), 0);
	ck_assert_uint_eq(capabilities_of("all"), CAPABILITIES_KEEP);
	ck_assert_uint_eq(capabilities_of("cap_chown"), 1);
	ck_assert_uint_eq(capabilities_of("CAP_KILL cap_net_bind_service"),
			  1 << CAP_KILL | 1 << CAP_NET_BIND_SERVICE);
	ck_assert_uint_eq(capabilities_of("cap_checkpoint_restore"),
			  UINT64_C(1) << CAP_CHECKPOINT_RESTORE);
}
END_TEST

/* Whatever the key is called, it is the one of that resource. */
START_TEST(every_limit_has_its_key)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		char text[128];

		(void)snprintf(text, sizeof(text), "[a]\ncommand = x\n%s = 1:infinity\n",
			       keys_limit_name(i));

		cleanup(config_unrefp) struct config *config = good(text);

		for (int j = 0; j < RLIM_NLIMITS; j++)
			ck_assert(limit_is_set(&only(config, "a")->attributes->limits[j]) ==
				  (i == j));
		limit_is(only(config, "a"), i, 1, RLIM_INFINITY);
	}
}
END_TEST

static void output_is(const struct config *config, const char *path, int fd, enum output_kind kind,
		      const char *file)
{
	const struct output *output = node_config_output(only(config, path), fd);

	ck_assert_msg(output->kind == kind, "%s: %d goes to %u", path, fd, output->kind);
	ck_assert_str_eq(output->path ? output->path : "", file);
}

START_TEST(the_nearest_section_decides_where_output_goes)
{
	cleanup(config_unrefp) struct config *config = good(
		"[swansong]\nlog = file:/a/%n\n[g]\nstderr = file:/e/%n\nstdin = file:/i\n"
		"[g/s]\ncommand = x\n[g/t]\ncommand = x\nlog = null\n"
		"[g/u]\ncommand = x\nlog = null\nstdout = journal\nstdin = inherit\n[v]\ncommand = x\n");

	output_is(config, "g/s", 1, OUTPUT_FILE, "/a/g/s");
	output_is(config, "g/s", 2, OUTPUT_FILE, "/e/g/s");
	ck_assert_str_eq(node_config_outputs(only(config, "g/s"))->stdio[0].path, "/i");
	output_is(config, "g/t", 1, OUTPUT_NULL, "");
	output_is(config, "g/t", 2, OUTPUT_NULL, "");
	output_is(config, "g/u", 1, OUTPUT_JOURNAL, "");
	output_is(config, "g/u", 2, OUTPUT_NULL, "");
	ck_assert_int_eq(node_config_outputs(only(config, "g/u"))->stdio[0].kind, OUTPUT_INHERIT);
	output_is(config, "v", 2, OUTPUT_FILE, "/a/v");
	ck_assert_int_eq(node_config_outputs(only(config, "v"))->stdio[0].kind, OUTPUT_DEFAULT);
}
END_TEST

START_TEST(a_group_needs_no_user)
{
	cleanup(config_unrefp) struct config *config =
		good("[a]\ncommand = x\ngroup = 7\n[b]\ncommand = x\nuser = 100\n");
	const struct credentials *a = &node_config_extras(only(config, "a"))->credentials,
				 *b = &node_config_extras(only(config, "b"))->credentials;

	ck_assert(!a->set && a->set_group && a->gid == 7 && !a->user);
	ck_assert(b->set && !b->set_group && b->uid == 100 && b->gid == 101);
}
END_TEST

START_TEST(groups_are_numbers_in_their_order)
{
	cleanup(config_unrefp) struct config *config =
		good("[g]\ngroups = 7 adm\n[g/a]\ncommand = x\nuser = redis\n"
		     "[g/b]\ncommand = x\ngroups = none\n[c]\ncommand = x\n");
	const struct credentials *a = &node_config_extras(only(config, "g/a"))->credentials;

	ck_assert(a->set_groups && a->n_groups == 2 && a->groups[0] == 7 && a->groups[1] == 4);
	ck_assert(node_config_extras(only(config, "g/b"))->credentials.set_groups);
	ck_assert_uint_eq(node_config_extras(only(config, "g/b"))->credentials.n_groups, 0);
	ck_assert(!node_config_extras(only(config, "c"))->credentials.set_groups);
}
END_TEST

START_TEST(parents_come_first_and_are_made_up)
{
	cleanup(config_unrefp) struct config *config =
		good("[b/c/d]\ncommand = x\n[a]\n[b]\nshutdown-timeout = 1s\n");
	static const char *const order[] = { "", "b", "b/c", "b/c/d", "a" };

	ck_assert_uint_eq(config->n_nodes, ARRAY_SIZE(order));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		ck_assert_str_eq(config->nodes[i]->path, order[i]);
		ck_assert_uint_eq(config->nodes[i]->index, i);
	}
	ck_assert(!only(config, "b/c")->stated && only(config, "b/c")->place.line == 1);
	ck_assert(only(config, "b")->stated && only(config, "b")->place.line == 4);
	ck_assert_ptr_eq(only(config, "b/c/d")->parent->parent, only(config, "b"));
	ck_assert(node_config_is_within(only(config, "b/c/d"), only(config, "b")));
	ck_assert(!node_config_is_within(only(config, "b"), only(config, "b/c/d")));
	ck_assert_ptr_null(config_find(config, "c"));
	ck_assert_ptr_null(config_find(config, "b/"));
}
END_TEST

/* What a value must not be, whatever the key's type takes for one. */
static const struct {
	const char *key;
	const char *values[24];
} bad_values[] = {
	{ "shutdown-timeout",
	  { "", "5", "-1s", "1.5s", "5 s", "1m", "forever", "99999999999999999999s" } },
	{ "type", { "", "Simple", "forking" } },
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
	{ "log", { "", "file", "file:", "file:x", "file:/x%", "/var/log/x", "Syslog", "none" } },
};

START_TEST(a_bad_value_is_refused_with_its_place)
{
	for (size_t j = 0; bad_values[_i].values[j]; j++) {
		char text[256], expected[64];

		(void)snprintf(text, sizeof(text), "[a/b]\ncommand = x\n%s = %s\n",
			       bad_values[_i].key, bad_values[_i].values[j]);
		(void)snprintf(expected, sizeof(expected), "f:3: [a/b] %s: '", bad_values[_i].key);
		bad(text, expected);
	}
}
END_TEST

START_TEST(a_bad_value_of_the_root_is_refused)
{
	bad("[swansong]\ncontrol-socket = run/s\n",
	    "f:2: [swansong] control-socket: 'run/s' cannot be used");
	bad("[swansong]\ncontrol-socket =\n", "f:2: [swansong] control-socket: ''");
	bad("[swansong]\ncontrol-socket = /"
	    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
	    "1234567\n",
	    "f:2: [swansong] control-socket: '/0123");
	bad("[swansong]\ncontrol-mode = 666x\n", "f:2: [swansong] control-mode: '666x'");
	bad("[swansong]\ncontrol-group = 0day\n", "f:2: [swansong] control-group: '0day'");
	bad("[swansong]\ncommand = x\n", "f:2: [swansong] command: the root is no service");
}
END_TEST

START_TEST(a_bad_command_is_refused)
{
	bad("[a]\ncommand =\n", "f:2: [a] command: '' names no program");
	bad("[a]\ncommand = '' x\n", "f:2: [a] command: ''' x' names no program");
	bad("[a]\ncommand = x \"y\n", "f:2: [a] command: 'x \"y' has an open quote");
	bad("[a]\ncommand = x \\\n",
	    "f:2: [a] command: 'x \\' has an open quote or ends with a backslash");
	bad("[a]\ncommand = x %h\n", "f:2: [a] command: 'x %h' has a %");
	bad("[a]\ncommand = x 100%\n", "f:2: [a] command: 'x 100%' has a %");
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
	    "f:3: [a] reload-signal: there is a reload-command, allowed is one of the two");
	bad("[swansong]\nexit-when = some\n",
	    "f:2: [swansong] exit-when: 'some' cannot be used, allowed is any, all or never");
	bad("[swansong]\nexit-on-signal = 143\n",
	    "f:2: [swansong] exit-on-signal: '143' cannot be used, allowed is 0 or 128+n");
}
END_TEST

START_TEST(a_report_is_a_file)
{
	cleanup(config_unrefp) struct config *config =
		good("[swansong]\nreport = /var/lib/r.json\n[a]\ncommand = x\n");

	ck_assert_str_eq(config->report, "/var/lib/r.json");
	bad("[swansong]\nreport = r.json\n",
	    "f:2: [swansong] report: 'r.json' is no absolute path");
	bad("[swansong]\nreport = /var/lib/\n",
	    "f:2: [swansong] report: '/var/lib/' is a directory");
	bad("[swansong]\nreport = /dev/null\n",
	    "f:2: [swansong] report: '/dev/null' is where devices are");
	config_unref(good("[swansong]\nreport = /dev/shm/r.json\n[a]\ncommand = x\n"));
	bad("[a]\nreport = /r\n", "f:2: [a] report: does not belong here");
}
END_TEST

START_TEST(keys_stand_where_they_belong)
{
	bad("[a]\nrestart = always\n", "f:2: [a] restart: is for a service");
	bad("[a]\ncontrol-mode = 0600\n", "f:2: [a] control-mode: does not belong here");
	bad("[a]\ncommand = x\n\ncommand = y\n", "f:4: [a] command: stands in line 2 already");
	bad("[a]\ncommand = x\ntype = oneshot\nrestart = always\n",
	    "f:4: [a] restart: 'always' would run a oneshot for ever");
	bad("[a]\ncommand = x\nready = started\ntype = oneshot\n",
	    "f:3: [a] ready: a oneshot is ready when it has ended");
	bad("[a]\ncommand = x\nready = log:(\n",
	    "f:3: [a] ready: 'log:(' cannot be used: Unmatched ( or \\(, allowed is started");
	bad("[a]\ncommand = x\nhealth = tcp:127.0.0.1:80\ntype = oneshot\n",
	    "f:3: [a] health: a oneshot does not stay");
	bad("[a]\ncommand = x\nrestart-delay = 31s\n",
	    "f:3: [a] restart-delay: restart-delay is 31");
	bad("[a]\ncommand = x\nrestart-delay-max = 1ms\n",
	    "f:3: [a] restart-delay-max: restart-delay is 100ms");
	bad("[a]\ncommand = x\nuser = 4000\n",
	    "f:3: [a] user: nobody has the number 4000, so [a] has no group");
	bad("[g]\nuser = 4000\n[g/a]\ncommand = x\n",
	    "f:2: [g] user: nobody has the number 4000, so [g/a] has no group");
}
END_TEST

START_TEST(there_is_one_terminal)
{
	cleanup(config_unrefp) struct config *config = good(
		"[a]\ncommand = x\nterminal = yes\nlog = null\nstderr = file:/e\n[b]\ncommand = x\nterminal = no\n");

	output_is(config, "a", 1, OUTPUT_INHERIT, "");
	output_is(config, "a", 2, OUTPUT_FILE, "/e");
	bad("[a]\ncommand = x\nterminal = yes\n[b/c]\ncommand = x\nterminal = on\n",
	    "f:6: [b/c] terminal: [a] has the terminal already, allowed for one service");
}
END_TEST

START_TEST(a_misspelling_is_recognised)
{
	bad("[a]\ncommand = x\nrequries = a\n",
	    "f:3: [a] requries: unknown key, did you mean 'requires'?");
	bad("[a]\ncommand = x\ncolour = red\n",
	    "f:3: [a] colour: unknown key, allowed are those of swansong.ini(5)");
	bad("[data/redis]\ncommand = x\n[a]\nrequires = data/reids\n",
	    "f:4: [a] requires: there is no node 'data/reids', did you mean 'data/redis'?");
	bad("[a]\nafter = nothing/like/it\n",
	    "f:2: [a] after: there is no node 'nothing/like/it', allowed are");
	bad("[a]\nafter = ''\n", "f:2: [a] after: there is no node ''");
	bad("[a]\nafter = swansong\n", "f:2: [a] after: 'swansong' is the root");
	bad("[a]\n[b]\nafter = a a\n", "f:3: [b] after: 'a' is named twice");
	bad("[a]\n[b]\nafter = a \"\n", "f:3: [b] after: 'a \"' has an open quote");
	/* Keys of later versions are not half understood. */
	bad("[a]\ncommand = x\nreplicas = 3\n", "f:3: [a] replicas: unknown key");
}
END_TEST

START_TEST(names_are_checked)
{
	static const char *const names_refused[] = { "a b",  " a",	   "a ", "/a", "a/",
						     "a//b", "a/./b",	   "..", "ä",  "a%n",
						     "a:b",  "swansong/a", "a[b" };
	char text[600], expected[300];

	for (size_t i = 0; i < ARRAY_SIZE(names_refused); i++) {
		(void)snprintf(text, sizeof(text), "\n[%s]\ncommand = x\n", names_refused[i]);
		(void)snprintf(expected, sizeof(expected), "f:2: [%s] ", names_refused[i]);
		bad(text, expected);
	}

	cleanup(config_unrefp) struct config *config =
		good("[A-z_0.9@x/swansong/...]\ncommand = x\n");
	ck_assert_ptr_nonnull(config_find(config, "A-z_0.9@x/swansong"));

	(void)snprintf(text, sizeof(text), "[%0*d]\ncommand = x\n", CONFIG_NAME_MAX, 0);
	config_unref(good(text));
	(void)snprintf(text, sizeof(text), "[%0*d]\ncommand = x\n", CONFIG_NAME_MAX + 1, 0);
	bad(text,
	    "f:1: [0000000000000000000000000000000000000000000000000000000000000000000000000000000");

	char *end = stpcpy(text, "[a");
	for (int i = 1; i < CONFIG_DEPTH_MAX; i++)
		end = stpcpy(end, "/a");
	(void)strcpy(end, "]\ncommand = x\n");
	config_unref(good(text));
	(void)strcpy(end, "/a]\ncommand = x\n");
	bad(text, "f:1: [a/a/a/");
}
END_TEST

START_TEST(all_mistakes_are_found_in_one_run)
{
	static const char *const paths[] = { "two", "missing", "one" };
	struct config *config = NULL;
	struct texts texts;
	static const char one[] =
		"[a]\ncommand = x\nafter = c b\n[c d]\nrestart = sometimes\n[b]\nafter = a\n",
			  two[] = "k = v\n[a]\nrestart = always\n\n[x]\nuser = 0day\nlog = x\n";

	write_file("one", one, strlen(one));
	write_file("two", two, strlen(two));
	ck_assert_int_eq(load(&config, paths, 3, &texts), -EINVAL);
	ck_assert_ptr_null(config);

	static const char *const expected[] = {
		"two:1: k stands before",
		"two:3: [a] restart: is for a service",
		"two:6: [x] user: '0day'",
		"two:7: [x] log: 'x'",
		"missing: cannot be opened: No such file or directory",
		"one:1: [a] is in two:2 already",
		"one:4: [c d] is no name",
		"one:5: [c d] restart: 'sometimes'",
	};
	char *line = texts.all;

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		ck_assert_msg(strncmp(line, expected[i], strlen(expected[i])) == 0, "%s is not %s",
			      line, expected[i]);
		line = strchr(line, '\n') + 1;
	}
	ck_assert_str_eq(line, "");
}
END_TEST

START_TEST(a_circle_is_a_mistake)
{
	bad("[a]\nrequires = b/x\n[b]\nafter = a\n[b/x]\ncommand = x\n",
	    "f:2: [a] requires: a circle that could never start, allowed without one of its steps: a requires b/x, which is in b; "
	    "b after a\n");
}
END_TEST

START_TEST(only_files_are_read)
{
	static const struct {
		const char *path, *expected;
	} refused[] = {
		{ "fifo", "fifo: a FIFO, allowed is a regular file\n" },
		{ "missing", "missing: cannot be opened: No such file or directory\n" },
		{ "/dev/null", "/dev/null: a device, allowed is a regular file\n" },
		{ "open", "open: anybody may write to it" },
		{ "dir", "dir/x.ini: a directory, allowed is a regular file\n" },
	};
	struct config *config = NULL;
	struct texts texts;

	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	ck_assert_int_eq(mkdir("dir", 0755), 0);
	ck_assert_int_eq(mkdir("dir/x.ini", 0755), 0);
	write_file("open", "", 0);
	ck_assert_int_eq(chmod("open", 0666), 0);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		ck_assert_int_eq(load(&config, &refused[i].path, 1, &texts), -EINVAL);
		ck_assert_msg(
			strncmp(texts.all, refused[i].expected, strlen(refused[i].expected)) == 0,
			"%s", texts.all);
	}
	ck_assert_ptr_null(config);
}
END_TEST

START_TEST(a_directory_is_read_in_the_order_of_names)
{
	static const char *const path = "conf.d";
	struct config *config = NULL;
	struct texts texts;

	ck_assert_int_eq(mkdir("conf.d", 0755), 0);
	write_file("conf.d/20.ini", "[b]\ncommand=x\n", 14);
	write_file("conf.d/10.ini", "[c]\n", 4);
	write_file("conf.d/B.ini", "[d]\n", 4);
	write_file("conf.d/.30.ini", "[hidden]\n", 9);
	write_file("conf.d/40.ini~", "[backup]\n", 9);
	write_file("conf.d/ini", "[other]\n", 8);
	ck_assert_msg(load(&config, &path, 1, &texts) == 0, "%s", texts.all);
	ck_assert_uint_eq(config->n_nodes, 4);
	ck_assert_str_eq(config->nodes[1]->path, "c");
	ck_assert_str_eq(config->nodes[1]->place.file, "conf.d/10.ini");
	ck_assert_str_eq(config->nodes[2]->path, "b");
	ck_assert_str_eq(config->nodes[3]->path, "d");
	config_unref(config);
}
END_TEST

START_TEST(nothing_to_run_is_a_warning)
{
	static const char *const path = ".";
	struct config *config = NULL;
	struct texts texts;

	ck_assert_int_eq(load(&config, &path, 1, &texts), 0);
	ck_assert_str_eq(texts.all, "warning: .: no service is configured: there is no *.ini\n");
	config = config_unref(config);
	ck_assert_int_eq(load_text(&config, "[a]\n", &texts), 0);
	ck_assert_str_eq(texts.all,
			 "warning: f: no service is configured: no section has a command\n");
	config_unref(config);
}
END_TEST

START_TEST(a_long_command_arrives_whole)
{
	char *text = malloc(40000), *end = stpcpy(text, "[a]\ncommand = x \\; \"");

	for (int i = 0; i < 10000; i++)
		*end++ = (char)(i % 11 == 0 ? ' ' : i % 13 == 0 ? ';' : 'a' + i % 26);
	(void)stpcpy(end, "\"\n\tlast\n");

	cleanup(config_unrefp) struct config *config = good(text);
	const struct node_config *a = only(config, "a");

	ck_assert_str_eq(a->argv[1], ";");
	ck_assert_uint_eq(strlen(a->argv[2]), 10000);
	ck_assert_int_eq(memcmp(a->argv[2], end - 10000, 10000), 0);
	ck_assert_str_eq(a->argv[3], "last");
	free(text);
}
END_TEST

START_TEST(too_many_nodes_are_refused)
{
	FILE *f = fopen("f", "we");
	static const char *const path = "f";
	struct config *config = NULL;
	struct texts texts;

	for (int i = 0; i < CONFIG_NODES_MAX; i++)
		(void)fprintf(f, "[n%d]\n", i);
	(void)fprintf(f, "[x/y/z]\nlog = x\n");
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(load(&config, &path, 1, &texts), -EINVAL);
	ck_assert_str_eq(
		texts.all,
		"f:100000: [n99999] is one node too many, allowed are 100000\n"
		"f:100001: [x/y/z] is one node too many, allowed are 100000\n"
		"f:100002: [x/y/z] log: 'x' cannot be used, allowed is inherit, null, journal, syslog, or "
		"file: and an absolute path\n");
}
END_TEST

START_TEST(a_command_alone_may_notify)
{
	static const struct {
		enum command_notify notify;
		bool socket;
		enum probe_kind ready;
	} cases[] = {
		{ COMMAND_NOTIFY_NONE, false, PROBE_STARTED },
		{ COMMAND_NOTIFY_ANY, true, PROBE_STARTED },
		{ COMMAND_NOTIFY_READY, true, PROBE_NOTIFY },
	};
	char sh[] = "sh";
	char *const argv[] = { sh, NULL };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct config *config = NULL;

		ck_assert_int_eq(
			config_new_command(&config, argv, cases[i].notify, SIGNAL_SCOPE_ALL), 0);
		ck_assert_int_eq(only(config, "main")->notify, cases[i].socket);
		ck_assert_int_eq(only(config, "main")->ready.kind, cases[i].ready);
		config_unref(config);
	}
}
END_TEST

START_TEST(a_command_alone_is_a_configuration)
{
	char sh[] = "sh", c[] = "-c", echo[] = "echo 100%";
	char *const argv[] = { sh, c, echo, NULL };
	struct config *config = NULL;

	ck_assert_int_eq(config_new_command(&config, argv, COMMAND_NOTIFY_NONE, SIGNAL_SCOPE_GROUP),
			 0);
	ck_assert_uint_eq(config->n_nodes, 2);
	ck_assert_uint_eq(config->nodes[0]->shutdown_timeout_usec, USEC_INFINITY);

	const struct node_config *main = only(config, "main");

	ck_assert_str_eq(main->argv[2], "echo 100%");
	ck_assert_ptr_null(main->argv[3]);
	ck_assert_str_eq(main->command, "sh -c echo 100%");
	ck_assert(main->essential);
	ck_assert_int_eq(main->restart, RESTART_NEVER);
	ck_assert_int_eq(main->type, TYPE_SIMPLE);
	ck_assert_uint_eq(main->start_timeout_usec, USEC_INFINITY);
	ck_assert_uint_eq(main->stop_timeout_usec, USEC_INFINITY);
	ck_assert_uint_eq(main->shutdown_timeout_usec, USEC_INFINITY);
	ck_assert_int_eq(main->stop_signal, SIGTERM);
	ck_assert_int_eq(main->ready.kind, PROBE_STARTED);
	ck_assert_int_eq(node_config_outputs(main)->log.kind, OUTPUT_INHERIT);
	ck_assert_int_eq(node_config_outputs(main)->stdio[0].kind, OUTPUT_INHERIT);
	ck_assert_ptr_eq(config_unref(config_ref(config)), NULL);
	ck_assert_str_eq(main->argv[0], "sh");
	config_unref(config);
}
END_TEST

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

START_TEST(equal_is_what_behaves_alike)
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
	write_file("x.ini", text, strlen(text));
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

START_TEST(without_memory_mistakes_are_no_worse)
{
	load_without_memory(mistakes, -EINVAL);
}
END_TEST

static void find_circle(enum diag_level level, const char *text, void *arg)
{
	const char *circle = strstr(text, " without one of its steps: ");

	(void)level;
	if (circle)
		(void)snprintf(arg, 4096, "%s", circle + strlen(" without one of its steps: "));
}

/* It takes more memory than it begins with, and a cut one would send people the wrong way. */
START_TEST(without_memory_a_circle_is_told_whole_or_not_at_all)
{
	static const char *const path = ".";
	static const char nodes[][60] = {
		"alpha-of-a-very-long-name-that-nobody-would-like-to-type",
		"beta-of-a-very-long-name-that-nobody-would-like-to-type",
		"gamma-of-a-very-long-name-that-nobody-would-like-to-type",
		"delta-of-a-very-long-name-that-nobody-would-like-to-type",
	};
	char text[2000] = "", whole[2000] = "", told[4096];
	unsigned int told_whole = 0;
	int r = -ENOMEM;

	for (size_t k = 0; k < ARRAY_SIZE(nodes); k++) {
		const char *next = nodes[(k + 1) % ARRAY_SIZE(nodes)];

		(void)sprintf(text + strlen(text), "[%s]\nrequires = %s\n", nodes[k], next);
		(void)sprintf(whole + strlen(whole), "%s%s requires %s", k ? "; " : "", nodes[k],
			      next);
	}
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
		diag_each(diag, find_circle, told);
		if (told[0])
			ck_assert_str_eq(told, whole);
		told_whole += told[0] != '\0';
		config_unref(config);
	}
	ck_assert_int_eq(r, -EINVAL);
	ck_assert_uint_gt(told_whole, 0);
}
END_TEST

START_TEST(without_memory_a_command_is_refused)
{
	char a[] = "a", b[] = "b";
	char *const argv[] = { a, b, NULL };
	int r = -ENOMEM;

	for (long n = 0; r == -ENOMEM; n++) {
		struct config *config = NULL;

		ck_assert_int_lt(n, 100);
		allocations_left = n;
		r = config_new_command(&config, argv, COMMAND_NOTIFY_READY, SIGNAL_SCOPE_GROUP);
		allocations_left = -1;
		ck_assert_int_eq(r == 0, config != NULL);
		config_unref(config);
	}
	ck_assert_int_eq(r, 0);
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

START_TEST(random_damage_is_taken_or_named)
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

Suite *test_suite(void)
{
	Suite *s = suite_create("config");
	TCase *tc = tcase_create("config");

	tcase_add_checked_fixture(tc, make_directory, remove_directory);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, defaults_are_those_of_the_manual);
	tcase_add_test(tc, every_key_is_taken);
	tcase_add_test(tc, what_ends_it_and_bounds_it_is_taken);
	tcase_add_test(tc, readiness_has_its_ways);
	tcase_add_test(tc, probes_know_the_node);
	tcase_add_test(tc, sockets_are_read_with_their_options);
	tcase_add_test(tc, what_is_shared_is_the_same_for_all);
	tcase_add_test(tc, readiness_has_a_descriptor_of_its_own);
	tcase_add_test(tc, a_socket_is_given_to_whom_something_is_asked_of_on_it);
	tcase_add_test(tc, values_are_inherited_downward);
	tcase_add_test(tc, attributes_are_inherited_one_by_one);
	tcase_add_test(tc, every_limit_has_its_key);
	tcase_add_test(tc, processors_are_a_list);
	tcase_add_test(tc, an_io_class_has_a_level);
	tcase_add_test(tc, capabilities_have_their_names);
	tcase_add_test(tc, the_nearest_section_decides_where_output_goes);
	tcase_add_test(tc, a_group_needs_no_user);
	tcase_add_test(tc, groups_are_numbers_in_their_order);
	tcase_add_test(tc, parents_come_first_and_are_made_up);
	tcase_add_loop_test(tc, a_bad_value_is_refused_with_its_place, 0, ARRAY_SIZE(bad_values));
	tcase_add_test(tc, a_bad_value_of_the_root_is_refused);
	tcase_add_test(tc, a_bad_command_is_refused);
	tcase_add_test(tc, a_command_key_may_be_repeated);
	tcase_add_test(tc, a_reload_is_a_signal_or_a_command);
	tcase_add_test(tc, a_report_is_a_file);
	tcase_add_test(tc, keys_stand_where_they_belong);
	tcase_add_test(tc, there_is_one_terminal);
	tcase_add_test(tc, a_misspelling_is_recognised);
	tcase_add_test(tc, names_are_checked);
	tcase_add_test(tc, all_mistakes_are_found_in_one_run);
	tcase_add_test(tc, a_circle_is_a_mistake);
	tcase_add_test(tc, only_files_are_read);
	tcase_add_test(tc, a_directory_is_read_in_the_order_of_names);
	tcase_add_test(tc, nothing_to_run_is_a_warning);
	tcase_add_test(tc, a_long_command_arrives_whole);
	tcase_add_test(tc, too_many_nodes_are_refused);
	tcase_add_test(tc, a_command_alone_is_a_configuration);
	tcase_add_test(tc, a_command_alone_may_notify);
	tcase_add_test(tc, equal_is_what_behaves_alike);
	tcase_add_test(tc, without_memory_nothing_is_loaded_and_nothing_lost);
	tcase_add_test(tc, without_memory_mistakes_are_no_worse);
	tcase_add_test(tc, without_memory_a_circle_is_told_whole_or_not_at_all);
	tcase_add_test(tc, without_memory_a_command_is_refused);
	tcase_add_loop_test(tc, random_damage_is_taken_or_named, 0, 4);
	suite_add_tcase(s, tc);
	return s;
}
