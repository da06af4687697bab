#pragma once

/* The kinds of values of the keys around a service: its further commands, and its end. */

#include "model/values.h"

extern const struct value_type type_commands; /* its keys may be repeated, a command each time */
extern const struct value_type type_exit_when;
extern const struct value_type type_exit_on_signal;
