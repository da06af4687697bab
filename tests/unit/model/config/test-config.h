#pragma once

/* Configurations from files, whose users are redis and 100 and whose group is adm. */

#include "tests/unit/fixtures/main.h"
#include "model/config/config.h"
#include "tests/unit/fixtures/scratch.h"

/* What is said of them, a line each. */
struct texts {
	char all[32768];
	size_t used;
};

extern const struct config_names names;

/* Loads the files, and leaves all entries in @texts. */
int load(struct config **ret, const char *const *paths, size_t n, struct texts *texts);
int load_text(struct config **ret, const char *text, struct texts *texts);

/* There is nothing to say of it. */
struct config *good(const char *text);

/* The configuration is refused, with @expected as the beginning of the only mistake. */
void bad(const char *text, const char *expected);

/* It is there. */
struct node_config *only(const struct config *config, const char *path);

/* Whose tests have a directory each. */
TCase *config_case(const char *name);

TCase *config_values_tests(void);
TCase *config_attributes_tests(void);
TCase *config_bad_tests(void);
TCase *config_command_tests(void);
TCase *config_equal_tests(void);
TCase *config_trouble_tests(void);
