#pragma once

#include "model/config.h"

/* What a file with @text says, without a mistake. */
struct config *config_of(const char *text, const struct config_names *names);

/* The same of one that may have mistakes: then NULL. */
struct config *config_of_any(const char *text, const struct config_names *names);
