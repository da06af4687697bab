#pragma once

#include "tests/unit/fixtures/main.h"

/* Of the methods, errors and text of the interface. */
TCase *interface_tests(void);

/* Of its types, and of the place of the socket. */
TCase *view_tests(void);
