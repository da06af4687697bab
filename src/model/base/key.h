#pragma once

/*
 * The numbers of the keys.  A new key recompiles all files that include this one, so few headers do: the others
 * name a key by an unsigned.
 */

enum key_id {
#define KEY(id, ...) KEY_##id,
#include "model/base/table.h"
	N_KEYS
};
