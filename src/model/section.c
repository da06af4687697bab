#include "model/section.h"

#include <stdlib.h>
#include <string.h>

size_t section_variable_name(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return word[n] == '=' && !(*word >= '0' && *word <= '9') ? n : 0;
}

void stated_user_done(struct stated_user *user)
{
	free(user->name);
	free(user->home);
	free(user->shell);
}

void section_done(struct section *section)
{
	for (size_t i = 0; i < N_EDGES; i++)
		free(section->edges[i]);
	free(section->instances);
	free(section->argv);
	for (int i = 0; i < N_HOOKS; i++)
		commands_done(&section->hooks[i]);
	listen_done(section->listen, section->n_listen);
	stated_user_done(&section->user);
	free(section->groups);
	free(section->directory);
	free(section->environment);
	free(section->environment_files);
	free(section->attributes);
	for (size_t i = 0; i < 3; i++)
		free(section->stdio[i].path);
	free(section->log.path);
}
