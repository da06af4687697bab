#pragma once

/*
 * Where the control socket is: @given if not NULL, else $SWANSONG_SOCKET if it is set and not
 * empty, else /run/swansong/control.sock for root and $XDG_RUNTIME_DIR/swansong/control.sock for
 * anybody else.  *ret is to be released by free().
 *
 * Return: 0; -ENXIO if there is no $XDG_RUNTIME_DIR to look in; -ENOMEM.
 */
int address_find(const char *given, char **ret);
