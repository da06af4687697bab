#include "ctl/terminal/words.h"

struct words words_in(char *buf, size_t size)
{
	buf[0] = '\0';
	return (struct words){ .buf = buf, .size = size };
}

void words_add(struct words *w, const char *separator, const char *format, ...)
{
	va_list ap;
	int n = w->used ? snprintf(w->buf + w->used, w->size - w->used, "%s", separator) : 0;

	w->used = MIN(w->used + (size_t)n, w->size - 1);
	va_start(ap, format);
	n = vsnprintf(w->buf + w->used, w->size - w->used, format, ap);
	va_end(ap);
	w->used = MIN(w->used + (size_t)n, w->size - 1);
}
