/* The history of ends, as swansongctl reads it; the first byte selects the command. */
#include "tests/fuzz/fuzz.h"

#include "tests/fuzz/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file = FUZZ_FILE;
	static char program[] = "swansongctl", history[] = "--history", json[] = "--json";
	static char verb[] = "history", node[] = "web";
	static char ledger[] = "availability";
	char *const commands[][6] = {
		{ program, history, file.path, verb },
		{ program, history, file.path, verb, node },
		{ program, history, file.path, verb, json },
		{ program, history, file.path, ledger },
		{ program, history, file.path, ledger, json },
	};
	struct fuzz_input input = { data, size };
	unsigned choice = fuzz_byte(&input) % 5;

	fuzz_file_set(&file, input.data, input.size);
	(void)fuzz_program(commands[choice]);
	return 0;
}
