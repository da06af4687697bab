#pragma once

#include "tests/unit/fixtures/main.h"

/* The part about swansong_pool_offload(), in a file of its own. */
TCase *offload_case(void);
