#include "tests/unit/proto/test-proto.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "proto/interface.h"

/* The reply to a call, or "" if the call is to be carried out or wants no reply. */
static char *answer_to(const char *text, int expected, enum interface_method *ret)
{
	struct message_call call;
	char *answer = NULL;

	ck_assert_msg(message_parse_call(text, &call) == 0, "no call: %s", text);
	ck_assert_msg(interface_dispatch(&call, ret, &answer) == expected, "other than %d: %s",
		      expected, text);
	message_call_done(&call);
	return answer ? answer : strdup("");
}

static void assert_answer(const char *text, const char *error, const char *parameter)
{
	enum interface_method method = N_METHODS;
	cleanup(freep) char *answer = answer_to(text, 1, &method);

	ck_assert_msg(strstr(answer, error), "%s: %s", text, answer);
	ck_assert_msg(strstr(answer, parameter), "%s: %s", text, answer);
	ck_assert_int_eq(method, N_METHODS);
}

START_TEST(every_method_is_found_and_its_parameters_checked)
{
	const struct field *fields;
	enum interface_method method = N_METHODS;
	char text[256];

	for (enum interface_method m = 0; m < N_METHODS; m++) {
		size_t n = interface_method_fields(m, &fields);

		int at = snprintf(text, sizeof(text), "{\"method\":\"%s\",\"parameters\":{",
				  interface_method_name(m));

		for (size_t i = 0, required = 0; i < n; i++) {
			if (fields[i].optional)
				continue;
			at += sprintf(text + at, "%s\"%s\":%s%s%s", required++ ? "," : "",
				      fields[i].name, fields[i].type == FIELD_STRINGS ? "[]" : "\"",
				      fields[i].type == FIELD_ENUM     ? fields[i].values[0]
				      : fields[i].type == FIELD_STRING ? "web"
								       : "",
				      fields[i].type == FIELD_STRINGS ? "" : "\"");
		}
		sprintf(text + at, "}}");
		free(answer_to(text, 0, &method));
		ck_assert_int_eq(method, m);
	}
}
END_TEST

START_TEST(wrong_calls_get_varlinks_own_errors)
{
	assert_answer("{\"method\":\"io.swansong.Nope\"}", "org.varlink.service.MethodNotFound",
		      "\"io.swansong.Nope\"");
	assert_answer("{\"method\":\"io.swansongs.Status\"}", "InterfaceNotFound",
		      "\"io.swansongs\"");
	assert_answer("{\"method\":\"swansong.Status\"}", "InterfaceNotFound", "\"swansong\"");
	assert_answer("{\"method\":\"org.varlink.service.Nope\"}", "MethodNotFound", "Nope");
	assert_answer("{\"method\":\"io.swansong.Start\"}", "InvalidParameter", "\"node\"");
	assert_answer("{\"method\":\"io.swansong.Start\",\"parameters\":{\"node\":null}}",
		      "InvalidParameter", "\"node\"");
	assert_answer("{\"method\":\"io.swansong.Shutdown\",\"parameters\":{\"force\":1}}",
		      "InvalidParameter", "\"force\"");
	assert_answer("{\"method\":\"io.swansong.Shutdown\",\"parameters\":{\"forced\":true}}",
		      "InvalidParameter", "\"forced\"");
	assert_answer("{\"method\":\"io.swansong.Wait\",\"parameters\":{\"until\":\"later\"}}",
		      "InvalidParameter", "\"until\"");
	assert_answer("{\"method\":\"io.swansong.Reload\",\"upgrade\":true}", "InvalidParameter",
		      "upgrade");
}
END_TEST

START_TEST(null_means_missing)
{
	enum interface_method method;

	free(answer_to(
		"{\"method\":\"io.swansong.Shutdown\",\"parameters\":{\"node\":null,\"force\":null}}",
		0, &method));
	ck_assert_int_eq(method, METHOD_SHUTDOWN);
	free(answer_to("{\"method\":\"io.swansong.Reload\",\"parameters\":null}", 0, &method));
	ck_assert_int_eq(method, METHOD_RELOAD);
}
END_TEST

START_TEST(a_oneway_call_gets_no_reply)
{
	enum interface_method method;
	char *answer = answer_to("{\"method\":\"a.b\",\"oneway\":true}", 1, &method);

	ck_assert_str_eq(answer, "");
	free(answer);
}
END_TEST

START_TEST(the_service_describes_itself)
{
	assert_answer("{\"method\":\"org.varlink.service.GetInfo\"}", "\"interfaces\"",
		      "\"io.swansong\"");
	assert_answer("{\"method\":\"org.varlink.service.GetInterfaceDescription\","
		      "\"parameters\":{\"interface\":\"io.swansong\"}}",
		      "\"description\"", "method Status(");
	assert_answer("{\"method\":\"org.varlink.service.GetInterfaceDescription\","
		      "\"parameters\":{\"interface\":\"org.varlink.service\"}}",
		      "\"description\"", "method GetInfo(");
	assert_answer("{\"method\":\"org.varlink.service.GetInterfaceDescription\","
		      "\"parameters\":{\"interface\":\"io.none\"}}",
		      "InterfaceNotFound", "io.none");
	assert_answer("{\"method\":\"org.varlink.service.GetInterfaceDescription\"}",
		      "InvalidParameter", "\"interface\"");
}
END_TEST

/* "node: ?string" */
static int spell(char *out, const struct field *f)
{
	int n = sprintf(out, "%s: %s", f->name, f->optional ? "?" : "");

	switch (f->type) {
	case FIELD_STRING:
		return n + sprintf(out + n, "string");
	case FIELD_BOOL:
		return n + sprintf(out + n, "bool");
	case FIELD_INT:
		return n + sprintf(out + n, "int");
	case FIELD_STRINGS:
		return n + sprintf(out + n, "[]string");
	case FIELD_ENUM:
		n += sprintf(out + n, "(");
		for (const char *const *value = f->values; *value; value++)
			n += sprintf(out + n, "%s%s", value == f->values ? "" : ", ", *value);
		return n + sprintf(out + n, ")");
	default:
		ck_abort_msg("no method has such a parameter");
	}
	return n;
}

START_TEST(the_text_and_the_table_agree)
{
	const char *p = interface_text;
	int n_text = 0;

	for (enum interface_method m = 0; m < N_METHODS; m++) {
		const struct field *fields;
		size_t n = interface_method_fields(m, &fields);
		char line[512];
		int at = sprintf(line, "\nmethod %s(", strrchr(interface_method_name(m), '.') + 1);

		for (size_t i = 0; i < n; i++) {
			at += sprintf(line + at, "%s", i ? ", " : "");
			at += spell(line + at, &fields[i]);
		}
		sprintf(line + at, ") -> (");
		ck_assert_msg(strstr(interface_text, line), "not in the text: %s", line);
	}
	while ((p = strstr(p, "\nmethod ")))
		p++, n_text++;
	ck_assert_int_eq(n_text, N_METHODS);
}
END_TEST

/* --- grammar --- */

/* Blanks and comments. */
static const char *skip(const char *p)
{
	while (isspace((unsigned char)*p) || *p == '#')
		p = *p == '#' ? strchrnul(p, '\n') : p + 1;
	return p;
}

static const char *expect(const char *p, const char *token)
{
	p = skip(p);
	ck_assert_msg(strncmp(p, token, strlen(token)) == 0, "no %s at %.60s", token, p);
	return p + strlen(token);
}

/* [A-Za-z](_?[A-Za-z0-9])* */
static const char *read_name(const char *p)
{
	p = skip(p);
	ck_assert_msg(isalpha((unsigned char)*p), "no name at %.60s", p);
	while (isalnum((unsigned char)*p) || (*p == '_' && isalnum((unsigned char)p[1])))
		p++;
	return p;
}

static const char *read_members(const char *p, const char *text);

/* A basic type, the name of a type that @text defines, or an unnamed type. */
static const char *read_element(const char *p, const char *text)
{
	static const char *const basic[] = { "bool", "int", "float", "string", "object" };
	const char *end;
	char line[64];

	p = skip(p);
	if (*p == '(')
		return read_members(p, text);
	end = read_name(p);
	for (size_t i = 0; i < ARRAY_SIZE(basic); i++)
		if (strlen(basic[i]) == (size_t)(end - p) &&
		    strncmp(p, basic[i], strlen(basic[i])) == 0)
			return end;
	(void)snprintf(line, sizeof(line), "\ntype %.*s (", (int)(end - p), p);
	ck_assert_msg(strstr(text, line), "not defined: %.60s", p);
	return end;
}

/* As systemd reads it: one container at most, and a ? only in front of all. */
static const char *read_type(const char *p, const char *text)
{
	p = skip(p);
	p += *p == '?';
	if (strncmp(p, "[string]", strlen("[string]")) == 0)
		p += strlen("[string]");
	else if (*p == '[')
		p = expect(p, "[]");
	return read_element(p, text);
}

/* (NAME: TYPE, ...), or (NAME, ...) for an enum. */
static const char *read_members(const char *p, const char *text)
{
	p = skip(expect(p, "("));
	for (bool first = true, is_enum = false; *p != ')'; first = false, p = skip(p)) {
		p = skip(read_name(first ? p : expect(p, ",")));
		if (first)
			is_enum = *p != ':';
		if (!is_enum)
			p = read_type(expect(p, ":"), text);
	}
	return p + 1;
}

static void assert_grammar(const char *text)
{
	const char *p = expect(text, "interface");

	for (p = skip(p); *p == '.' || isalnum((unsigned char)*p); p++)
		;
	for (p = skip(p); *p; p = skip(p)) {
		bool method = strncmp(p, "method ", strlen("method ")) == 0;

		if (!method)
			p = *p == 't' ? expect(p, "type ") : expect(p, "error ");
		else
			p = expect(p, "method ");
		ck_assert_msg(isupper((unsigned char)*p), "%.60s", p);
		p = read_members(read_name(p), text);
		if (method)
			p = read_members(expect(p, "->"), text);
	}
}

START_TEST(each_text_follows_the_grammar)
{
	static const char *const names[] = { "io.swansong", "org.varlink.service" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup(freep) char *answer = NULL;
		enum interface_method method;
		struct message_reply reply;
		char call[128];

		sprintf(call,
			"{\"method\":\"org.varlink.service.GetInterfaceDescription\","
			"\"parameters\":{\"interface\":\"%s\"}}",
			names[i]);
		answer = answer_to(call, 1, &method);
		ck_assert_int_eq(message_parse_reply(answer, &reply), 0);
		assert_grammar(message_get_string(reply.parameters, "description", ""));
		message_reply_done(&reply);
	}
}
END_TEST

START_TEST(every_error_has_its_parameters)
{
	for (enum interface_error e = 0; e < N_ERRORS; e++) {
		const char *name = strrchr(interface_error_name(e), '.') + 1;
		struct message_reply reply;
		enum interface_error found;
		char *text, line[256];
		int at = sprintf(line, "\nerror %s(", name);
		json_t *more = e == ERROR_FAILED ? json_pack("{s:b, s:[]}", "forced", 1, "losses")
			       : e == ERROR_NO_SUCH_NODE ? json_pack("{s:[]}", "similar")
							 : NULL;

		ck_assert_int_eq(interface_build_error(&text, e, "web", "no \xff", more), 0);
		ck_assert_int_eq(message_parse_reply(text, &reply), 0);
		ck_assert_int_eq(interface_error_find(reply.error, &found), 0);
		ck_assert_int_eq(found, e);
		if (json_object_get(reply.parameters, "node"))
			at += sprintf(line + at, "node: string");
		if (json_object_get(reply.parameters, "reason")) {
			ck_assert_str_eq(message_get_string(reply.parameters, "reason", ""),
					 "no \xef\xbf\xbd");
			at += sprintf(line + at, "%sreason: string",
				      line[at - 1] == '(' ? "" : ", ");
		}
		if (json_object_get(reply.parameters, "losses"))
			at += sprintf(line + at, ", forced: ?bool, losses: ?[]Loss");
		if (json_object_get(reply.parameters, "similar"))
			at += sprintf(line + at, ", similar: ?[]string");
		sprintf(line + at, ")\n");
		ck_assert_msg(strstr(interface_text, line), "not in the text: %s", line);
		message_reply_done(&reply);
		free(text);
	}
	enum interface_error none = N_ERRORS;

	ck_assert_int_eq(interface_error_find("io.swansong.Nope", &none), -ENOENT);
	ck_assert_int_eq(none, N_ERRORS);
}
END_TEST

TCase *interface_tests(void)
{
	TCase *tc = tcase_create("interface");

	tcase_add_test(tc, every_method_is_found_and_its_parameters_checked);
	tcase_add_test(tc, wrong_calls_get_varlinks_own_errors);
	tcase_add_test(tc, null_means_missing);
	tcase_add_test(tc, a_oneway_call_gets_no_reply);
	tcase_add_test(tc, the_service_describes_itself);
	tcase_add_test(tc, the_text_and_the_table_agree);
	tcase_add_test(tc, each_text_follows_the_grammar);
	tcase_add_test(tc, every_error_has_its_parameters);
	return tc;
}
