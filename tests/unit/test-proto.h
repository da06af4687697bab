#pragma once

#include "main.h"

/* Of the types of the interface, and of the place of the socket. */
TCase *view_tests(void);
TCase *columns_tests(void);
