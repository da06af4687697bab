#pragma once

#include "tests/unit/fixtures/main.h"

/* Which descriptors it has: test-spawn-files.c. */
void test_spawn_add_files(TCase *tc);

/* Its session and its terminal: test-spawn-terminal.c. */
void test_spawn_add_terminals(TCase *tc);

/* What does not come to be, and why: test-spawn-failure.c. */
void test_spawn_add_failures(TCase *tc);
