/*
 * Writes families of samples in the text format of Prometheus or in that of OpenMetrics, which
 * differ in the types and suffixes of the head of a family, and in the mark of the end.
 */
#include "exporter/text/sample.h"

enum metrics_format metrics_accepted(const char *accept)
{
	return accept && strstr(accept, "application/openmetrics-text") ? METRICS_OPENMETRICS
									: METRICS_PROMETHEUS;
}

const char *metrics_type(enum metrics_format format)
{
	return format == METRICS_OPENMETRICS
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}

/* Prometheus has no infos, and names a counter with its suffix. */
void samples_begin(struct samples *samples, const char *family, const char *type, const char *help)
{
	bool plain = samples->format == METRICS_PROMETHEUS, is_info = strcmp(type, "info") == 0;
	const char *suffix;

	samples->family = family;
	samples->suffix = is_info ? "_info" : strcmp(type, "counter") == 0 ? "_total" : "";
	suffix = plain ? samples->suffix : "";
	type = plain && is_info ? "gauge" : type;
	(void)fprintf(samples->to, "# HELP %s%s %s\n# TYPE %s%s %s\n", family, suffix, help, family,
		      suffix, type);
}

void samples_end(struct samples *samples)
{
	if (samples->format == METRICS_OPENMETRICS)
		(void)fputs("# EOF\n", samples->to);
}

static void sample_write_name(const struct samples *samples, const char *labels, const char *label,
			      const char *value)
{
	(void)fputs(samples->family, samples->to);
	(void)fputs(samples->suffix, samples->to);
	if (!labels && !label)
		return;
	(void)fputc('{', samples->to);
	(void)fputs(labels ? labels : "", samples->to);
	if (label)
		(void)fprintf(samples->to, "%s%s=\"%s\"", labels ? "," : "", label, value);
	(void)fputc('}', samples->to);
}

void sample_add(struct samples *samples, const char *labels, const char *label, const char *value,
		uint64_t number)
{
	char digits[TEXT_NUMBER_MAX];

	sample_write_name(samples, labels, label, value);
	(void)fputc(' ', samples->to);
	(void)fputs(text_number(digits, number), samples->to);
	(void)fputc('\n', samples->to);
}

void sample_add_usec(struct samples *samples, const char *labels, const char *label,
		     const char *value, uint64_t usec)
{
	sample_write_name(samples, labels, label, value);
	(void)fprintf(samples->to, " %" PRIu64 ".%06" PRIu64 "\n", usec / USEC_PER_SEC,
		      usec % USEC_PER_SEC);
}

char *sample_label(const char *path)
{
	char *text = malloc(2 * strlen(path) + sizeof("node=\"\"")), *at;

	if (!text)
		return NULL;
	at = stpcpy(text, "node=\"");
	for (; *path; path++) {
		if (*path == '\\' || *path == '"' || *path == '\n')
			*at++ = '\\';
		*at++ = *path == '\n' ? 'n' : *path;
	}
	(void)strcpy(at, "\"");
	return text;
}
