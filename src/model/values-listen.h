#pragma once

/*
 * The value of the key listen: "unix:/run/x.sock,mode=0660,owner=www-data
 * tcp:127.0.0.1:80,name=http".
 */

#include "model/values.h"

/* Reads the options; addresses and names may have substitutions left in them. */
extern const struct value_type type_listen;

/*
 * @stated as it is for the node @path: with substitutions done and the address read.
 *
 * Return: 0; -EINVAL with the reason in *why; -ENOMEM.  On failure listen_done() is still to be
 * called for *ret.
 */
int listen_resolve(const struct listen *stated, const char *path, struct listen *ret,
		   const char **why);
