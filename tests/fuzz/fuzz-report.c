/* The report of a shutdown, as swansongctl reads it; the first byte selects the command. */
#include "tests/fuzz/fuzz.h"

#include "tests/fuzz/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file = FUZZ_FILE;
	static char program[] = "swansongctl", report[] = "--report", json[] = "--json";
	static char blame[] = "blame", node[] = "web";
	char *const commands[][6] = {
		{ program, report, file.path, blame },
		{ program, report, file.path, blame, node },
		{ program, report, file.path, blame, json },
	};
	struct fuzz_input input = { data, size };
	unsigned choice = fuzz_byte(&input) % 3;

	fuzz_file_set(&file, input.data, input.size);
	(void)fuzz_program(commands[choice]);
	return 0;
}
