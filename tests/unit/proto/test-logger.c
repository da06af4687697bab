#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"
#include "proto/logger-store.h"
#include "proto/logger-message.h"
#include "tests/unit/fixtures/main.h"

static int pair[2];
static struct logger_packet packet;

static void make_pair(void)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
}

static void close_pair(void)
{
	pair[0] = fd_close(pair[0]);
	pair[1] = fd_close(pair[1]);
}

static void send_raw(const void *data, size_t size)
{
	ck_assert_int_eq(send(pair[0], data, size, 0), (ssize_t)size);
}

START_TEST(a_message_arrives_with_its_texts_and_its_descriptor)
{
	struct logger_message m = {
		.type = LOGGER_ADD,
		.stream = 7,
		.rules = { .to = LOGGER_TO_FILE, .size = 1000, .mode = 0640 },
	};

	ck_assert_int_eq(logger_send(pair[0], &m, "web/app", "/var/log/web", pair[0]), 0);
	ck_assert_int_eq(logger_receive(pair[1], &packet), 1);
	ck_assert_uint_eq(packet.message.stream, 7);
	ck_assert_uint_eq(packet.message.rules.size, 1000);
	ck_assert_str_eq(packet.texts[0], "web/app");
	ck_assert_str_eq(packet.texts[1], "/var/log/web");
	ck_assert_int_eq(fcntl(packet.fd, F_GETFD), FD_CLOEXEC);
	(void)close(packet.fd);
	ck_assert_int_eq(logger_receive(pair[1], &packet), -EAGAIN);
	pair[0] = fd_close(pair[0]);
	ck_assert_int_eq(logger_receive(pair[1], &packet), 0);
}
END_TEST

START_TEST(texts_that_are_too_long_are_not_sent)
{
	struct logger_message m = { .type = LOGGER_TROUBLE };
	char text[LOGGER_MESSAGE_MAX + 1];

	memset(text, 'x', sizeof(text));
	text[LOGGER_MESSAGE_MAX] = '\0';
	ck_assert_int_eq(logger_send(pair[0], &m, text, NULL, -1), -EMSGSIZE);
	text[LOGGER_MESSAGE_MAX - 1] = '\0';
	ck_assert_int_eq(logger_send(pair[0], &m, text, NULL, -1), 0);
	ck_assert_int_eq(logger_receive(pair[1], &packet), 1);
	ck_assert_uint_eq(strlen(packet.texts[0]), LOGGER_MESSAGE_MAX - 1);
}
END_TEST

/* Each is a valid message with one change. */
static const struct {
	size_t offset;
	uint32_t value;
	int expected;
} changes[] = {
	{ offsetof(struct logger_message, version), LOGGER_VERSION + 1, -EPROTO },
	{ offsetof(struct logger_message, type), 0, -EBADMSG },
	{ offsetof(struct logger_message, type), LOGGER_TYPES, -EBADMSG },
	{ offsetof(struct logger_message, type), LOGGER_ADD, -EBADMSG }, /* without a descriptor */
	{ offsetof(struct logger_message, size), 1, -EBADMSG },
	{ offsetof(struct logger_message, stream), LOGGER_STREAMS, -EBADMSG },
	{ offsetof(struct logger_message, stream), LOGGER_STREAMS - 1, 1 },
	{ offsetof(struct logger_message, stream), LOGGER_ALL, 1 },
	{ offsetof(struct logger_message, rules.to), LOGGER_TOS, -EBADMSG },
	{ offsetof(struct logger_message, rules.format), LOGGER_FORMATS, -EBADMSG },
	{ offsetof(struct logger_message, rules.stamp), LOGGER_STAMPS, -EBADMSG },
	{ offsetof(struct logger_message, rules.kind), LOGGER_KINDS, -EBADMSG },
	{ offsetof(struct logger_message, rules.flags), LOGGER_FLAGS + 1, -EBADMSG },
	{ offsetof(struct logger_message, rules.priority), 8, -EBADMSG },
	{ offsetof(struct logger_message, rules.keep), LOGGER_KEEP_MAX + 1, -EBADMSG },
	{ offsetof(struct logger_message, rules.memory), LOGGER_MEMORY_MAX + 1, -EBADMSG },
	{ offsetof(struct logger_message, rules.mode), 01000, -EBADMSG },
	{ offsetof(struct logger_message, rules.name_width), 256, -EBADMSG },
};

START_TEST(a_number_out_of_its_range_is_refused)
{
	char raw[sizeof(struct logger_message) + 4] = { 0 };
	const struct logger_message m = {
		.version = LOGGER_VERSION,
		.type = LOGGER_CHANGE,
		.size = sizeof(raw),
	};

	memcpy(raw, &m, sizeof(m));
	memcpy(raw + sizeof(m), "a\0b", 4);
	memcpy(raw + changes[_i].offset, &changes[_i].value, sizeof(uint32_t));
	send_raw(raw, sizeof(raw));
	ck_assert_int_eq(logger_receive(pair[1], &packet), changes[_i].expected);
}
END_TEST

static const struct {
	size_t size;
	char text[8];
	int expected;
} tails[] = {
	{ 4, "a\0b", 1 },	    { 3, "a\0b", -EBADMSG }, /* no NUL */
	{ 2, "a", -EBADMSG },				     /* a text is missing */
	{ 0, "", -EBADMSG },				     /* both */
	{ 6, "a\0b\0c", -EBADMSG },			     /* a text too many */
};

START_TEST(the_number_of_texts_must_match_the_type)
{
	char raw[sizeof(struct logger_message) + 8];
	const struct logger_message m = {
		.version = LOGGER_VERSION,
		.type = LOGGER_CHANGE,
		.size = (uint32_t)(sizeof(m) + tails[_i].size),
	};

	memcpy(raw, &m, sizeof(m));
	memcpy(raw + sizeof(m), tails[_i].text, tails[_i].size);
	send_raw(raw, m.size);
	ck_assert_int_eq(logger_receive(pair[1], &packet), tails[_i].expected);
}
END_TEST

START_TEST(an_unexpected_descriptor_is_closed)
{
	struct logger_message m = { .type = LOGGER_FLUSH };
	int next = dup(0);

	(void)close(next);
	ck_assert_int_eq(logger_send(pair[0], &m, NULL, NULL, 0), 0);
	ck_assert_int_eq(logger_receive(pair[1], &packet), -EBADMSG);
	ck_assert_int_eq(dup(0), next);
	(void)close(next);
}
END_TEST

START_TEST(a_lack_of_descriptors_is_reported_and_the_next_message_arrives)
{
	struct logger_message m = { .type = LOGGER_VIEW };
	struct rlimit limit, low;
	int next = dup(0);

	(void)close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	low.rlim_cur = (rlim_t)next;
	ck_assert_int_eq(logger_send(pair[0], &m, NULL, NULL, 0), 0);
	ck_assert_int_eq(logger_send(pair[0], &m, NULL, NULL, 0), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
	ck_assert_int_eq(logger_receive(pair[1], &packet), -EMFILE);
	ck_assert_uint_eq(packet.message.type, LOGGER_VIEW);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(logger_receive(pair[1], &packet), 1);
	(void)close(packet.fd);
}
END_TEST

START_TEST(a_packet_of_any_size_is_refused_or_valid)
{
	static char noise[2 * sizeof(struct logger_packet)];

	srandom(1);
	for (int i = 0; i < 20000; i++) {
		size_t size = 1 + (size_t)random() % (i % 10 ? 400 : sizeof(noise));

		for (size_t j = 0; j < size; j++)
			noise[j] = (char)random();
		noise[0] = LOGGER_VERSION;
		memset(noise + 1, 0, 3);
		memset(noise + 5, 0, 3);
		noise[4] = (char)(random() % LOGGER_TYPES);
		memcpy(noise + 8, &(uint32_t){ (uint32_t)size }, sizeof(uint32_t));
		send_raw(noise, size);
		ck_assert_int_ne(logger_receive(pair[1], &packet), -EAGAIN);
	}
}
END_TEST

START_TEST(a_store_takes_no_memory_until_it_is_written)
{
	struct store_header *store = NULL;
	int fd = store_new();
	struct stat st;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(store_map(fd, PROT_READ, &store), 0);
	ck_assert_uint_eq(store_record(store, LOGGER_STREAMS - 1)->now.position, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_le(st.st_blocks * 512, 65536);
	ck_assert_int_eq(ftruncate(fd, 0), -1);
	ck_assert_ptr_null(store_unmap(store));
	(void)close(fd);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("logger");
	TCase *t = tcase_create("messages");

	tcase_add_checked_fixture(t, make_pair, close_pair);
	tcase_add_test(t, a_message_arrives_with_its_texts_and_its_descriptor);
	tcase_add_test(t, texts_that_are_too_long_are_not_sent);
	tcase_add_loop_test(t, a_number_out_of_its_range_is_refused, 0, ARRAY_SIZE(changes));
	tcase_add_loop_test(t, the_number_of_texts_must_match_the_type, 0, ARRAY_SIZE(tails));
	tcase_add_test(t, an_unexpected_descriptor_is_closed);
	tcase_add_test(t, a_lack_of_descriptors_is_reported_and_the_next_message_arrives);
	tcase_add_test(t, a_packet_of_any_size_is_refused_or_valid);
	tcase_add_test(t, a_store_takes_no_memory_until_it_is_written);
	suite_add_tcase(suite, t);
	return suite;
}
