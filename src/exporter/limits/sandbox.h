#pragma once

/*
 * Gives up rights for good, when all sockets that listen are there: the process has no capability and
 * cannot gain privileges, execute a program, send a signal, open a file for writing, or make sockets of
 * other families than Unix (sys/rights/rights.h).
 */
int sandbox_enter(void);
