#pragma once

/*
 * Limits by Landlock: files to those of read-paths, and of write-paths; ports to those of tcp-bind and tcp-connect.
 * They need no_new_privs, or CAP_SYS_ADMIN.
 *
 * Return: 0, or -errno with the word at fault in *subject.
 */

#include "sandbox/options.h"

int files_limit_reading(const struct options *options, const char **subject);
int files_limit_writing(const struct options *options, const char **subject);
int files_limit_ports(const struct options *options, const char **subject);
