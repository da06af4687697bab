/* A message of a service, as the daemon reads it. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "daemon/notify/notify-message.h"

static void check_text(const char *text, size_t room)
{
	FUZZ_CHECK(memchr(text, '\0', room));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct notify_message message;
	int r = notify_parse((const char *)data, size, &message);

	if (r < 0) {
		FUZZ_CHECK(r == -EBADMSG);
		return 0;
	}
	if (message.flags & NOTIFY_STATUS)
		check_text(message.status, sizeof(message.status));
	if (message.flags & NOTIFY_FDNAME)
		check_text(message.fdname, sizeof(message.fdname));
	if (message.flags & NOTIFY_GUARD)
		check_text(message.guard, sizeof(message.guard));
	if (message.flags & NOTIFY_ERRNO)
		FUZZ_CHECK(message.error >= 0 && message.error <= 4095);
	if (message.flags & NOTIFY_MAINPID)
		FUZZ_CHECK(message.main_pid > 0);
	return 0;
}
