#pragma once

/* swansongctl as a whole, in this process, with its output in memory. */

/* Runs the program; argv[0] is its name.  Returns the exit status, after a look at what it printed. */
int fuzz_program(char *const *argv);
