/*
 * model/config knows only the files; this machine is checked here.  A program is looked for as the
 * child of the daemon would: in the PATH of the service's environment, or else in ours.  A command is
 * a list of words, so what a shell would interpret is an argument; a command that names a shell gets
 * no warning.
 */
#include "ctl/session/offline.h"

#include "model/keys/section.h"
#include "proto/history/line.h"
#include "sys/file/refusal.h"
#include "sys/spawn/ids.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct offline_check {
	const struct node_config *node;
	enum key_id key;
	struct diag *diag;
};

#define offline_warn(check, format, ...)                                                          \
	diag_add((check)->diag, DIAG_WARNING, key_source_of((check)->node, (check)->key).place,   \
		 "[%s] %s: " format, node_config_section((check)->node), keys[(check)->key].name, \
		 ##__VA_ARGS__)

/* --- signs of a shell --- */

static bool offline_is_shell(const char *program)
{
	static const char *const shells[] = { "sh",  "bash", "dash", "ash",	"ksh",
					      "zsh", "fish", "env",  "busybox", NULL };
	const char *slash = strrchr(program, '/');

	return text_is_one_of(slash ? slash + 1 : program, shells);
}

static bool offline_is_operator(const char *word)
{
	static const char *const operators[] = { "|", "||", "&&", "&",	 ";",	 ">",  ">>",
						 "<", "<<", "2>", "2>>", "2>&1", "&>", NULL };

	/* With the file in the same word: ">/dev/null". */
	return text_is_one_of(word, operators) || strncmp(word, ">/", 2) == 0 ||
	       strncmp(word, "2>/", 3) == 0 || strncmp(word, ">>/", 3) == 0;
}

/* The "$NAME" or "${NAME" in @word, or NULL. */
static const char *offline_find_variable(const char *word)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_{";

	for (const char *p = strchr(word, '$'); p; p = strchr(p + 1, '$'))
		if (p[1] && strchr(letters, p[1]))
			return p;
	return NULL;
}

static void offline_check_signs(const struct offline_check *check, char *const *argv)
{
	char excerpt[DIAG_EXCERPT_MAX];

	if (offline_is_shell(argv[0]))
		return;
	for (char *const *word = argv + 1; *word; word++) {
		const char *variable = offline_find_variable(*word);

		if (strcmp(*word, "#") == 0) {
			offline_warn(check,
				     "'#' begins no comment here, and is an argument of %s: "
				     "write the comment on a line of its own",
				     argv[0]);
			return;
		}
		if (offline_is_operator(*word) || variable) {
			offline_warn(
				check,
				"'%s' is an argument of %s, as no shell runs the command: write "
				"sh -c 'exec ...' around it",
				diag_excerpt(excerpt, variable ? variable : *word), argv[0]);
			return;
		}
	}
}

/* --- programs and directories --- */

enum found { FOUND_NOTHING, FOUND_OTHER, FOUND_PROGRAM };

/* @path is NULL without memory: there is no warning then. */
static enum found offline_look_at(const char *path)
{
	struct stat st;

	if (!path)
		return FOUND_PROGRAM;
	if (stat(path, &st) < 0)
		return FOUND_NOTHING;
	return S_ISREG(st.st_mode) && (st.st_mode & 0111) ? FOUND_PROGRAM : FOUND_OTHER;
}

static const char *offline_find_path(const struct node_config *node)
{
	const char *ours = getenv("PATH");

	for (char *const *word = node->environment; word && *word; word++)
		if (strncmp(*word, "PATH=", 5) == 0)
			return *word + 5;
	return ours ? ours : DEFAULT_PATH;
}

static enum found offline_look_in_path(const char *path, const char *name)
{
	enum found best = FOUND_NOTHING;

	for (const char *p = path, *end; p; p = *end ? end + 1 : NULL) {
		cleanup(freep) char *file = NULL;
		enum found found;

		end = strchrnul(p, ':');
		file = text_format("%.*s/%s", (int)(end - p), p, name);
		found = offline_look_at(file);
		best = found > best ? found : best;
	}
	return best;
}

static enum found offline_look_for(const struct node_config *node, const char *name)
{
	cleanup(freep) char *file = NULL;

	if (!strchr(name, '/'))
		return offline_look_in_path(offline_find_path(node), name);
	if (*name == '/')
		return offline_look_at(name);
	file = text_format("%s/%s", node->directory ? node->directory : ".", name);
	return offline_look_at(file);
}

static void offline_check_command(const struct offline_check *check, char *const *argv)
{
	enum found found = offline_look_for(check->node, argv[0]);
	char excerpt[DIAG_EXCERPT_MAX];

	diag_excerpt(excerpt, argv[0]);
	if (found == FOUND_OTHER)
		offline_warn(check, "'%s' is not an executable file", excerpt);
	else if (found == FOUND_NOTHING && strchr(argv[0], '/'))
		offline_warn(check, "there is no program '%s'", excerpt);
	else if (found == FOUND_NOTHING)
		offline_warn(check, "there is no program '%s' in %s", excerpt,
			     offline_find_path(check->node));
	offline_check_signs(check, argv);
}

/* --- paths that the daemon and the logger write, or read for a service --- */

static void offline_check_path(struct key_source source, enum key_id key, const char *path,
			       int flags, uid_t uid, struct diag *diag)
{
	const char *as = flags & O_PATH ? "used" : flags & O_WRONLY ? "a log file" : "read";
	cleanup(freep) char *why = NULL;
	char excerpt[DIAG_EXCERPT_MAX];
	struct path_doubt doubt;
	int r;

	if (!path || *path != '/')
		return;
	r = path_refusal(path, flags, uid, &doubt);
	if (r < 0 && (why = refusal_text(-r, &doubt)))
		diag_add(diag, DIAG_ERROR, source.place, "[%s] %s: '%s' cannot be %s: %s",
			 node_config_section(source.node), keys[key].name,
			 diag_excerpt(excerpt, path), as, why);
}

/* Returns the key that sets output @fd of @node, and its place: a nearer log counts for both streams. */
static struct key_source offline_find_output(const struct node_config *node, int fd,
					     enum key_id *key)
{
	enum key_id own_key = fd == 1 ? KEY_STDOUT : KEY_STDERR;
	struct key_source own = key_source_of(node, own_key), log = key_source_of(node, KEY_LOG);
	bool nearer = log.node && log.node != own.node && own.node &&
		      node_config_is_within(log.node, own.node);

	*key = own.node && !nearer ? own_key : KEY_LOG;
	return *key == KEY_LOG ? log : own;
}

/* The user of the logger. */
static uid_t offline_log_uid(const struct config *config)
{
	return config->log_user.set ? config->log_user.uid : geteuid();
}

static void offline_check_log(const struct node_config *node, int fd, const struct config *config,
			      struct diag *diag)
{
	const struct output *output = node_config_output(node, fd);
	const struct output *first = node_config_output(node, 1);
	struct key_source source;
	enum key_id key;

	if (output->kind != OUTPUT_FILE)
		return;
	if (fd == 2 && first->kind == OUTPUT_FILE && strcmp(output->path, first->path) == 0)
		return;
	source = offline_find_output(node, fd, &key);
	offline_check_path(source, key, output->path, O_WRONLY, offline_log_uid(config), diag);
}

static void offline_check_listen(const struct node_config *node, enum key_id key,
				 const struct listen *listen, struct diag *diag)
{
	if (listen && listen->kind == LISTEN_UNIX)
		offline_check_path(key_source_of(node, key), key, listen->address, O_PATH,
				   geteuid(), diag);
}

/* The files of the daemon itself. */
static void offline_check_root(const struct config *config, struct diag *diag)
{
	const struct node_config *root = config->nodes[0];
	cleanup(freep) char *history = NULL;
	const struct {
		enum key_id key;
		const char *path;
	} replaced[] = {
		{ KEY_CONTROL_SOCKET, config->control_socket },
		{ KEY_REPORT, config->report },
		{ KEY_STATE, config->state },
	};

	for (size_t i = 0; i < ARRAY_SIZE(replaced); i++)
		offline_check_path(key_source_of(root, replaced[i].key), replaced[i].key,
				   replaced[i].path, O_PATH, geteuid(), diag);
	if (history_path(&history, config->history, config->report) == 0)
		offline_check_path(key_source_of(root, config->history ? KEY_HISTORY : KEY_REPORT),
				   KEY_HISTORY, history, O_WRONLY, offline_log_uid(config), diag);
}

/* --- times --- */

/* Only where the key is set, so that there is one warning for all services below. */
static void offline_check_budget(const struct node_config *node, struct diag *diag)
{
	struct key_source source = key_source_of(node, KEY_STOP_TIMEOUT);
	char wanted[DURATION_TEXT_MAX], budget[DURATION_TEXT_MAX];
	uint64_t usec = node->stop_timeout_usec;
	const struct node_config *n = node;

	if (source.node != node || usec == USEC_INFINITY)
		return;
	while (n && n->shutdown_timeout_usec >= usec)
		n = n->parent;
	if (n)
		diag_add(diag, DIAG_WARNING, source.place,
			 "[%s] stop-timeout: %s is cut by the shutdown-timeout of %s, %s",
			 node_config_section(node), parse_duration_text(wanted, usec),
			 n->parent ? n->path : CONFIG_ROOT_NAME,
			 parse_duration_text(budget, n->shutdown_timeout_usec));
}

static void offline_check_node(const struct node_config *node, const struct config *config,
			       struct diag *diag)
{
	const struct output *in = &node_config_outputs(node)->stdio[0];
	const struct extras *extras = node_config_extras(node);
	struct offline_check check = { .node = node, .diag = diag };
	struct stat st;

	for (enum hook_kind kind = 0; kind < N_HOOKS; kind++) {
		const struct commands *commands = node_config_hook(node, kind);

		for (size_t i = 0; kind == HOOK_CREDENTIAL && i < commands->n; i++)
			offline_check_path(key_source_of(node, KEY_CREDENTIAL), KEY_CREDENTIAL,
					   strchr(commands->argv[i][0], ':') + 1, O_RDONLY,
					   geteuid(), diag);
		if (kind == HOOK_CONDITION || kind == HOOK_CREDENTIAL)
			continue;
		check.key = key_of_hook(kind);
		for (size_t i = 0; i < commands->n; i++)
			offline_check_command(&check, commands->argv[i]);
	}
	offline_check_budget(node, diag);
	offline_check_listen(node, KEY_AGENT, extras->agent, diag);
	if (!node->argv)
		return;
	check.key = KEY_COMMAND;
	offline_check_command(&check, node->argv);
	check.key = KEY_DIRECTORY;
	if (node->directory && (stat(node->directory, &st) < 0 || !S_ISDIR(st.st_mode)))
		offline_warn(&check, "there is no directory '%s'", node->directory);
	if (in->kind == OUTPUT_FILE)
		offline_check_path(key_source_of(node, KEY_STDIN), KEY_STDIN, in->path, O_NONBLOCK,
				   geteuid(), diag);
	offline_check_log(node, 1, config, diag);
	offline_check_log(node, 2, config, diag);
	for (size_t i = 0; i < extras->n_listen; i++)
		offline_check_listen(node, KEY_LISTEN, &extras->listen[i], diag);
}

/*
 * Adds a warning to @diag for each command with a program that is missing or not executable, for each
 * directory that is missing, for each command that has signs which only a shell understands, and for
 * each stop-timeout that is longer than a budget; an error for each path at which the daemon or the
 * logger would refuse to write or to read (sys/file/path.h).
 */
static void offline_check(const struct config *config, struct diag *diag)
{
	offline_check_root(config, diag);
	for (size_t i = 0; i < config->n_nodes; i++)
		offline_check_node(config->nodes[i], config, diag);
}

/* --- reading --- */

static void offline_print_message(enum diag_level level, struct place place, const char *text,
				  void *arg)
{
	const struct ctl *ctl = arg;

	if (level == DIAG_WARNING && ctl->options.quiet)
		return;
	if (level == DIAG_WARNING)
		(void)fputs("warning: ", stderr);
	ctl_print_error(text);
}

int offline_load(struct ctl *ctl, const char *const *paths, size_t n_paths,
		 const struct offline_report *report, size_t *warnings, struct config **ret)
{
	const struct config_names names = { ids_user, ids_group, NULL, ctl->options.trust,
					    .open = refusal_open };
	cleanup(diag_freep) struct diag *diag = NULL;
	int r = diag_new(&diag);

	if (r == 0)
		r = config_load(ret, paths, n_paths, &names, diag);
	if (r == 0 && warnings) {
		offline_check(*ret, diag);
		*warnings = diag_warnings(diag);
		r = diag_errors(diag) > 0 ? -EINVAL : 0;
	}
	if (diag)
		diag_each(diag, report ? report->add : offline_print_message,
			  report ? report->arg : ctl);
	return r == -EINVAL ? CTL_CONFIG : r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

const struct node_config *offline_find(const struct config *config, const char *name)
{
	if (strcmp(name, "/") == 0 || strcmp(name, CONFIG_ROOT_NAME) == 0)
		return config->nodes[0];
	return config_find(config, name);
}
