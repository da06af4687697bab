#pragma once

/*
 * Gives up rights for good: the process cannot gain privileges, execute a program, make sockets of
 * other families than Unix, use a capability except to open files of other users and to make files theirs, or use most of the
 * system calls.
 */
int sandbox_enter(void);
