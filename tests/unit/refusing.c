#include "refusing.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

int threads_left = -1;
void (*before_thread)(void);

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *),
			  void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *),
			  void *arg)
{
	void (*before)(void) = before_thread;

	before_thread = NULL;
	if (before)
		before();
	if (threads_left == 0)
		return EAGAIN;
	if (threads_left > 0)
		threads_left--;
	return __real_pthread_create(thread, attr, body, arg);
}

bool says(const char *word, void (*fn)(void *arg), void *arg)
{
	char text[500] = "";
	int fds[2], saved;

	ck_assert_int_eq(pipe(fds), 0);
	saved = dup(STDERR_FILENO);
	ck_assert_int_ge(saved, 0);
	(void)dup2(fds[1], STDERR_FILENO);
	fn(arg);
	(void)dup2(saved, STDERR_FILENO);
	(void)close(saved);
	(void)close(fds[1]);
	ck_assert_int_ge(read(fds[0], text, sizeof(text) - 1), 0);
	(void)close(fds[0]);
	return strstr(text, word);
}
