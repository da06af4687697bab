#include "model/section.h"

#include <stdlib.h>

void stated_user_done(struct stated_user *user)
{
	free(user->name);
	free(user->home);
	free(user->shell);
}

void section_done(struct section *section)
{
	free(section->requires);
	free(section->after);
	free(section->argv);
	listen_done(section->listen, section->n_listen);
	stated_user_done(&section->user);
	free(section->directory);
	free(section->environment);
	free(section->log.path);
}
