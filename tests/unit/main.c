#include "main.h"

#include <stdlib.h>

int main(void)
{
	/* In seconds; what hangs does so for ever, and what is slow on a busy machine does not hang. */
	(void)setenv("CK_DEFAULT_TIMEOUT", "60", 0);

	SRunner *runner = srunner_create(test_suite());

	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
