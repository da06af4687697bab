#pragma once

/* The whole program, but for its name: reads the command line and runs it.  Return: exit status. */
int program_run(int argc, char **argv);
