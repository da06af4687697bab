#pragma once

/* The soft limits that a program keeps over an exec (sys/spawn/crash.h), with values of the tests. */

#include <stdbool.h>

/* Sets each to one of @parts equal parts of its value, or of the hard limit if that is less.  Return: 0 or -errno. */
int limits_set(unsigned parts);

/* Returns true if they are as limits_set() has set them. */
bool limits_are(unsigned parts);
