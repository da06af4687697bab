#pragma once

#include <check.h>

/* What a unit test program provides; main() is in main.c and speaks TAP. */
Suite *test_suite(void);
