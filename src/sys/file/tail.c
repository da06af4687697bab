/* Only the end of the file is read. */
#include "sys/file/tail.h"

#include "base/std.h"

void tail_read_line(int fd, char *line, size_t size)
{
	char text[4096], *last = text;
	struct stat st = { .st_size = 0 };
	size_t length;
	ssize_t n;

	(void)fstat(fd, &st);
	n = pread(fd, text, sizeof(text), MAX(st.st_size - (off_t)sizeof(text), 0));
	length = n > 0 ? (size_t)n : 0;
	if (length > 0 && text[length - 1] == '\n')
		length--;
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\n')
			last = text + i + 1;
		else if (!text[i])
			text[i] = '?';
	length = MIN(length - (size_t)(last - text), size - 1);
	memcpy(line, last, length);
	line[length] = '\0';
}
