#pragma once

#include <check.h>

/* What does not come to be, and why: test-spawn-failure.c. */
void test_spawn_add_failures(TCase *tc);
