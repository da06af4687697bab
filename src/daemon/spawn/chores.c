/*
 * Without root the directories are those of the XDG Base Directory Specification, as those of a user manager
 * of systemd.
 */
#include "daemon/spawn/chores.h"

#include <sys/sendfile.h>

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

#define CREDENTIAL_SIZE_MAX 1048576 /* bytes, as for systemd */

/*
 * A process that reads the file has all of the former content, or of the next.  The user of the service may change
 * the directory: the new file is one that did not exist.
 */
static int chores_copy(const struct spawn_spec *spec)
{
	const char *colon = strchr(spec->argv[0], ':');
	cleanup(closep) int from = path_open(colon + 1, O_RDONLY, 0);
	char text[PATH_MAX], made[NAME_MAX + 1];
	cleanup(path_done) struct path p;
	cleanup(closep) int to = -1;
	ssize_t n, size = 0;
	int r;

	if (snprintf(text, sizeof(text), "%s/%.*s", spec->argv[1], (int)(colon - spec->argv[0]),
		     spec->argv[0]) >= (int)sizeof(text))
		return -ENAMETOOLONG;
	r = path_find(&p, text, PATH_FIND);
	if (from < 0 || r < 0)
		return from < 0 ? from : r;
	(void)snprintf(made, sizeof(made), ".%.*s", NAME_MAX - 1, p.name);
	(void)path_unlink_in(&p, made);
	to = path_open_in(&p, made, O_WRONLY | O_CREAT | O_EXCL, 0400);
	if (to < 0)
		return to;
	do
		n = sendfile(to, from, NULL, CREDENTIAL_SIZE_MAX + 1);
	while (n > 0 && (size += n) <= CREDENTIAL_SIZE_MAX);
	r = n < 0 ? -errno : n > 0 ? -EFBIG : 0;
	if (r == 0 && spec->set_user && fchown(to, spec->uid, spec->gid) < 0)
		r = -errno;
	if (r == 0)
		r = path_rename_in(&p, made, p.name, PATH_REPLACE);
	if (r < 0)
		(void)path_unlink_in(&p, made);
	return r;
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
static const struct spawn_work chores_credential = { SPAWN_STEP_COPY, chores_copy };
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

/* Takes chore.path[0]; NULL: out of memory. */
static int chores_append(struct chores *c, struct chore chore)
{
	int r = chore.path[0] ? array_append(c->of, c->n, chore) : -ENOMEM;

	if (r < 0)
		free(chore.path[0]);
	return r;
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
		r = chores_append(c, chore);
		if (r == 0)
			r = chores_list(&c->variables[folder], folders[folder].variable, chore.path[0]);
	}
	return r;
}

/* Root can write in the directory all the same.  Its name has no slash, so that none is in another. */
static int chores_add_credentials(struct chores *c, const struct node_config *config)
{
	cleanup(freep) char *base = NULL;
	struct chore chore = {
		.work = &chores_directory,
		.key = KEY_CREDENTIAL,
		.mode = geteuid() == 0 ? 0500 : 0700,
	};
	int r = chores_find_base(FOLDER_RUNTIME, &base);
	char *path = r < 0 ? NULL : text_format("%s/swansong/credentials/%s", base, config->path);

	for (char *p = path ? strchr(path, '\0') - strlen(config->path) : NULL; p && (p = strchr(p, '/'));)
		*p = ':';
	chore.path[0] = path;
	r = r < 0 ? r : chores_append(c, chore);
	return r < 0 ? r : chores_list(&c->variables[N_FOLDERS], "CREDENTIALS_DIRECTORY", path);
}

int chores_new(struct chores **ret, const struct node_config *config)
{
	const struct extras *extras = node_config_extras(config);
	const struct commands *conditions = node_config_hook(config, HOOK_CONDITION);
	const struct commands *credentials = node_config_hook(config, HOOK_CREDENTIAL);
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
	if (r == 0 && credentials->n > 0)
		r = chores_add_credentials(c, config);
	for (enum folder i = 0; r == 0 && i < N_FOLDERS; i++) {
		if (extras->folders[i])
			r = chores_add_folder(c, extras, i);
		if (i == FOLDER_RUNTIME && !config->handover)
			c->n_removed = c->n - c->n_conditions;
	}
	for (; r == 0 && c->n_credentials < credentials->n; c->n_credentials++)
		r = chores_append(c, (struct chore){
					     .work = &chores_credential,
					     .key = KEY_CREDENTIAL,
					     .path = { strdup(credentials->argv[c->n_credentials][0]),
						       c->of[c->n_conditions].path[0] },
				     });
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
	for (size_t i = 0; i < CHORES_VARIABLES; i++)
		free(c->variables[i]);
	free(c->of);
	return free_memory(c);
}

size_t chores_count(const struct chores *c, enum hook_kind kind)
{
	if (!c)
		return 0;
	if (kind == HOOK_RELOAD_COMMAND)
		return c->n_credentials;
	return kind == HOOK_START_COMMAND ? c->n : kind == HOOK_POST_STOP ? c->n_removed : 0;
}

const struct chore *chores_at(const struct chores *c, enum hook_kind kind, size_t n,
			      size_t commands)
{
	size_t first = kind == HOOK_POST_STOP ? commands : 0;

	if (n < first || n - first >= chores_count(c, kind))
		return NULL;
	n -= first;
	if (kind == HOOK_POST_STOP)
		n += c->n_conditions;
	else if (kind == HOOK_RELOAD_COMMAND)
		n += c->n - c->n_credentials;
	return &c->of[n];
}
