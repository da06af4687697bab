#pragma once

#include "tests/unit/fixtures/main.h"

/* The descriptors of the child: test-spawn-files.c. */
void test_spawn_add_files(TCase *tc);

/* Its session and its terminal: test-spawn-terminal.c. */
void test_spawn_add_terminals(TCase *tc);

/* Failed starts and their reasons: test-spawn-failure.c. */
void test_spawn_add_failures(TCase *tc);

/* Starts that the parent does not wait for: test-spawn-begin.c. */
void test_spawn_add_begin(TCase *tc);
