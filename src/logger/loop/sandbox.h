#pragma once

/*
 * What the logger cannot do: gain privileges, execute a program, make sockets but those of Unix, use
 * a capability but that of opening the files of other users, and most system calls.
 *
 * Return: 0 or -errno.
 */
int sandbox_enter(void);
