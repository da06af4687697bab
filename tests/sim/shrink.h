#pragma once

#include "tests/sim/run.h"

/* Shortens a history that fails as long as the same promise fails. */
void shrink_history(struct history *history, struct failure *failure);
