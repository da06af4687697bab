#pragma once

#include "main.h"

/* Of the methods, errors and text of the interface. */
TCase *interface_tests(void);

/* Of its types, and of the place of the socket. */
TCase *view_tests(void);
TCase *columns_tests(void);
TCase *mutated_tests(void);
