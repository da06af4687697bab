#pragma once

/* The reasons why a path is refused, with names of users: only for use while a configuration is loaded. */

#include "sys/file/path.h"

/* Returns the reason, with the directory that another user may change and that user, to be freed, or NULL. */
char *refusal_text(int error, const struct path_doubt *doubt);

/* path_open() for reading without waiting, with the reason of a failure; see struct config_names. */
int refusal_open(const char *path, char **why);
