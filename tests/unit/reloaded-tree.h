#pragma once

/*
 * A tree without processes, and what becomes of it by one configuration after another.  What a service
 * would do is said to it as its processes would; nothing here calls order_pump().
 */

#include "main.h"
#include "tree-world.h"

/* What files with @text make; until finish(). */
void begin(const char *text);
void reload(const char *text);

/* One turn of daemon.c, as far as a stop goes. */
void turn(void);

/* It runs, as it is configured by now. */
void run(const char *path);

/* Its last process is gone. */
void end(const char *path);

/* It has begun that generation, and is to run. */
void is_back(const char *path, unsigned generation);

TCase *order_tests(void);
TCase *walk_tests(void);
