#pragma once

#include "tests/unit/fixtures/main.h"

/* The part about objects that exist already: test-nomem-use.c. */
TCase *nomem_use_case(void);
