#pragma once

#include "sandbox/options.h"

/*
 * Limits this process, and all that it executes, to the system calls of system-calls, protect and address-families;
 * others fail with EPERM, and those of another kind of processor end the process.  It needs no_new_privs, or CAP_SYS_ADMIN.
 *
 * Return: 0, or -errno with the word at fault in *subject.
 */
int calls_limit(const struct options *options, const char **subject);
