#pragma once

/* The commands about past ends: see ctl/commands/cmd.h. */

#include "ctl/session/session.h"

int cmd_history(struct ctl *ctl, int argc, char **argv);
int cmd_availability(struct ctl *ctl, int argc, char **argv);
int cmd_advise(struct ctl *ctl, int argc, char **argv);
