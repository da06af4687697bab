/*
 * Without root the directories are those of the XDG Base Directory Specification, as those of a user manager
 * of systemd.
 */
#include "daemon/spawn/chores.h"

#include "proto/address.h"
#include "sys/file/path.h"

DEFINE_CLEANUP(struct chores *, chores_free)

static const struct {
	const char *variable, *of_root;
	const char *xdg, *of_home, *below; /* else: $xdg, or of_home in $HOME */
} folders[N_FOLDERS] = {
	[FOLDER_RUNTIME] = { "RUNTIME_DIRECTORY", "/run", "XDG_RUNTIME_DIR", NULL, "" },
	[FOLDER_STATE] = { "STATE_DIRECTORY", "/var/lib", "XDG_STATE_HOME", "/.local/state", "" },
	[FOLDER_CACHE] = { "CACHE_DIRECTORY", "/var/cache", "XDG_CACHE_HOME", "/.cache", "" },
	[FOLDER_LOG] = { "LOGS_DIRECTORY", "/var/log", "XDG_STATE_HOME", "/.local/state", "/log" },
};

static int chores_make(const struct spawn_spec *spec)
{
	(void)umask(022);
	return path_give_directory(spec->argv[0], spec->mode,
				   spec->set_user ? spec->uid : (uid_t)-1,
				   spec->set_user || spec->set_group ? spec->gid : (gid_t)-1);
}

static int chores_remove(const struct spawn_spec *spec)
{
	return path_remove_tree(spec->argv[0]);
}

/* A condition holds: 0; or not: 1.  A program is executed without its prefix. */
static int chores_check(const struct spawn_spec *spec)
{
	bool negated = *spec->argv[0] == '!', holds = false;
	const char *name = strchr(spec->argv[0], ':') + 1;
	size_t length = strlen(name);
	struct stat st;

	if (strncmp(spec->argv[0], "exec:", 5) == 0) {
		*(const char **)spec->argv = name;
		return SPAWN_WORK_EXECUTE;
	}
	if (spec->argv[0][negated] == 'e') {
		for (char *const *v = spec->envp; *v && !holds; v++)
			holds = strncmp(*v, name, length) == 0 && (*v)[length] == '=';
		return holds == negated;
	}
	holds = stat(name, &st) == 0;
	return holds || errno == ENOENT || errno == ENOTDIR ? holds == negated : -errno;
}

static const struct spawn_work chores_condition = { SPAWN_STEP_CHECK, chores_check };
static const struct spawn_work chores_directory = { SPAWN_STEP_MAKE, chores_make };
const struct spawn_work chores_removal = { SPAWN_STEP_REMOVE, chores_remove };

static int chores_find_base(enum folder folder, char **ret)
{
	const char *xdg = getenv(folders[folder].xdg), *home = getenv("HOME");
	const char *of_home = folders[folder].of_home;

	if (geteuid() == 0)
		*ret = strdup(folders[folder].of_root);
	else if (xdg && *xdg == '/')
		*ret = text_format("%s%s", xdg, folders[folder].below);
	else if (of_home)
		*ret = text_format("%s%s%s", home ? home : "", of_home, folders[folder].below);
	else
		return address_directory(ret);
	return *ret ? 0 : -ENOMEM;
}

/* Adds @path to the list of directories in @variable. */
static int chores_list(char **variable, const char *name, const char *path)
{
	char *longer = text_format("%s%c%s", *variable ? *variable : name, *variable ? ':' : '=',
				   path);

	if (!longer)
		return -ENOMEM;
	free(*variable);
	*variable = longer;
	return 0;
}

/* Adds a chore for each directory, and its path to the variable. */
static int chores_add_folder(struct chores *c, const struct extras *extras, enum folder folder)
{
	cleanup(freep) char *base = NULL;
	int r = chores_find_base(folder, &base);

	for (char **word = extras->folders[folder]; r == 0 && *word; word++) {
		const char *end = strchrnul(*word, ':');
		struct chore chore = {
			.work = &chores_directory,
			.mode = *end ? (mode_t)strtoul(end + 1, NULL, 8) : 0755,
			.key = KEY_RUNTIME_DIRECTORY + folder,
		};

		chore.path[0] = text_format("%s/%.*s", base, (int)(end - *word), *word);
		if (!chore.path[0])
			return -ENOMEM;
		r = array_append(c->of, c->n, chore);
		if (r < 0)
			free(chore.path[0]);
		else
			r = chores_list(&c->variables[folder], folders[folder].variable, chore.path[0]);
	}
	return r;
}

int chores_new(struct chores **ret, const struct node_config *config)
{
	const struct extras *extras = node_config_extras(config);
	const struct commands *conditions = node_config_hook(config, HOOK_CONDITION);
	cleanup(chores_freep) struct chores *c = NULL;
	int r = 0;

	if (!node_config_has_hook(config, HOOK_START_COMMAND))
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->n_conditions = conditions->n;
	for (size_t i = 0; r == 0 && i < conditions->n; i++)
		r = array_append(c->of, c->n,
				 (struct chore){ .work = &chores_condition,
						 .key = KEY_CONDITION,
						 .condition = conditions->argv[i] });
	for (enum folder i = 0; r == 0 && i < N_FOLDERS; i++) {
		if (extras->folders[i])
			r = chores_add_folder(c, extras, i);
		if (i == FOLDER_RUNTIME && !config->handover)
			c->n_removed = c->n - c->n_conditions;
	}
	if (r == 0 && c->n > 0)
		*ret = take(c);
	return r;
}

struct chores *chores_free(struct chores *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n; i++)
		free(c->of[i].path[0]);
	for (size_t i = 0; i < N_FOLDERS; i++)
		free(c->variables[i]);
	free(c->of);
	return free_memory(c);
}

size_t chores_count(const struct chores *c, enum hook_kind kind)
{
	if (!c)
		return 0;
	return kind == HOOK_START_COMMAND ? c->n : kind == HOOK_POST_STOP ? c->n_removed : 0;
}

const struct chore *chores_at(const struct chores *c, enum hook_kind kind, size_t n,
			      size_t commands)
{
	size_t first = kind == HOOK_START_COMMAND ? 0 : commands;

	if (n < first || n - first >= chores_count(c, kind))
		return NULL;
	return &c->of[n - first + (kind == HOOK_START_COMMAND ? 0 : c->n_conditions)];
}
