#pragma once

#include "tests/unit/fixtures/main.h"

/* What is asked of that which is there already: test-swansong-nomem-use.c. */
TCase *nomem_use_case(void);
