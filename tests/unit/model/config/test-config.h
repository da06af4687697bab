#pragma once

/* Configurations from files, with the users redis and 100 and the group adm. */

#include "tests/unit/fixtures/main.h"
#include "model/config/config.h"
#include "tests/unit/fixtures/scratch.h"

/* The entries of the diag, a line each. */
struct texts {
	char all[32768];
	size_t used;
};

extern const struct config_names names;

/* Loads the files, and leaves all entries in @texts. */
int load(struct config **ret, const char *const *paths, size_t n, struct texts *texts);
int load_text(struct config **ret, const char *text, struct texts *texts);

/* Loads a configuration without an error or warning. */
struct config *good(const char *text);

/* The configuration is refused, and its only error begins with @expected. */
void bad(const char *text, const char *expected);

/* Returns the node @path, which must exist. */
struct node_config *only(const struct config *config, const char *path);

/* A test case with a directory for each test. */
TCase *config_case(const char *name);

TCase *config_values_tests(void);
TCase *config_attributes_tests(void);
TCase *config_bad_tests(void);
TCase *config_command_tests(void);
TCase *config_equal_tests(void);
TCase *config_dropin_tests(void);
TCase *config_trouble_tests(void);
