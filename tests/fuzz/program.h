#pragma once

/* swansongctl as a whole, in this process, with its output in memory. */

/* Runs the program; argv[0] is its name.  Checks its output, and returns the exit status. */
int fuzz_program(char *const *argv);
