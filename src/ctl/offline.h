#pragma once

/* Configurations that are looked at without a daemon. */

#include "model/config.h"

/*
 * As config_load().  All that is to be said about it is in *ret_diag, also with -EINVAL.
 *
 * Return: 0; -EINVAL if there are mistakes in it; -ENOMEM.
 */
int offline_load(const char *const *paths, size_t n_paths, struct config **ret,
		 struct diag **ret_diag);

/* A line on standard error. */
void offline_print(enum diag_level level, const char *text);
