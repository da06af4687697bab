#pragma once

/*
 * The program of test-crash executes itself as a program that crashes, with CRASHING_VARIABLE in its
 * environment and the kind of the crash as its first argument.
 */
#define CRASHING_VARIABLE "TEST_CRASHING"

#if defined(__SANITIZE_ADDRESS__)
#define CRASHING_SANITIZED 1
#else
#define CRASHING_SANITIZED 0
#endif
