/*
 *	log =			destination
 *
 *	(nothing)		the journal if standard error is the journal's; else what the service would
 *				have inherited, standard output or standard error
 *	file:PATH		the file
 *	journal, syslog		the journal, syslog
 *	file:/dev/stdout, /dev/stderr, inherit, null
 *				none: not captured, but for ready = log:REGEX, of which the logger has the
 *				lines; they are written as they are
 */
#include "daemon/logger/rules.h"

#define MEMORY	  65536
#define FILE_MODE 0640

struct destination {
	bool captured;
	enum logger_to to;
	const char *file; /* "" if it is none */
};

void log_sinks_init(struct log_sinks *sinks, const struct log *log)
{
	struct stat out, err;

	*sinks = (struct log_sinks){
		.journal = log->journal,
		.one = fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
		       out.st_dev == err.st_dev && out.st_ino == err.st_ino,
	};
}

bool log_rules_is_captured(enum output_kind kind)
{
	return kind != OUTPUT_INHERIT && kind != OUTPUT_STDOUT && kind != OUTPUT_STDERR &&
	       kind != OUTPUT_NULL;
}

static const struct output *log_rules_output(const struct node_config *config,
					     enum logger_kind kind)
{
	return node_config_output(config, kind == LOGGER_ERROR ? 2 : 1);
}

static struct destination log_rules_destination_of(const struct node_config *config,
						   enum logger_kind kind,
						   const struct log_sinks *sinks)
{
	static const enum logger_to places[] = {
		[OUTPUT_FILE] = LOGGER_TO_FILE,	      [OUTPUT_JOURNAL] = LOGGER_TO_JOURNAL,
		[OUTPUT_SYSLOG] = LOGGER_TO_SYSLOG,   [OUTPUT_STDOUT] = LOGGER_TO_OUTPUT,
		[OUTPUT_STDERR] = LOGGER_TO_ERROR,    [OUTPUT_NULL] = LOGGER_TO_MEMORY,
		[OUTPUT_DEFAULT] = LOGGER_TO_JOURNAL,
	};
	const struct output *output = log_rules_output(config, kind);
	bool inherits = output->kind == OUTPUT_INHERIT ||
			(output->kind == OUTPUT_DEFAULT && !sinks->journal);
	bool one = output->kind == OUTPUT_DEFAULT && sinks->one;

	return (struct destination){
		.captured = log_rules_is_captured(output->kind) || config->ready.kind == PROBE_LOG,
		.to = inherits ? kind == LOGGER_OUTPUT && !one ? LOGGER_TO_OUTPUT : LOGGER_TO_ERROR
			       : places[output->kind],
		.file = output->kind == OUTPUT_FILE ? output->path : "",
	};
}

static enum logger_format log_rules_format_of(const struct node_config *config,
					      enum logger_kind kind, enum logger_to to)
{
	static const enum logger_format formats[] = {
		[LOG_FORMAT_PLAIN] = LOGGER_PLAIN,
		[LOG_FORMAT_PREFIX] = LOGGER_PREFIX,
		[LOG_FORMAT_JSON] = LOGGER_JSON,
	};
	enum output_format format = node_config_outputs(config)->log_format;

	if (to == LOGGER_TO_JOURNAL) /* its entries have fields */
		return LOGGER_PLAIN;
	if (to == LOGGER_TO_SYSLOG) /* its messages have tags; lines of standard error do not */
		return LOGGER_PREFIX;
	if (format == LOG_FORMAT_DEFAULT)
		return to == LOGGER_TO_FILE ||
				       !log_rules_is_captured(log_rules_output(config, kind)->kind)
			       ? LOGGER_PLAIN
			       : LOGGER_PREFIX;
	return formats[format];
}

void log_rules_reload(struct logger_rules *rules, const struct node_config *config)
{
	static const enum logger_stamp stamps[] = {
		[LOG_TIMESTAMP_NONE] = LOGGER_STAMP_NONE,
		[LOG_TIMESTAMP_ISO] = LOGGER_STAMP_ISO,
		[LOG_TIMESTAMP_ISO_USEC] = LOGGER_STAMP_ISO_USEC,
		[LOG_TIMESTAMP_UNIX] = LOGGER_STAMP_UNIX,
		[LOG_TIMESTAMP_ISO_LOCAL] = LOGGER_STAMP_ISO,
		[LOG_TIMESTAMP_ISO_USEC_LOCAL] = LOGGER_STAMP_ISO_USEC,
	};
	const struct outputs *outputs = node_config_outputs(config);

	*rules = (struct logger_rules){
		.to = rules->to,
		.kind = rules->kind,
		.format = log_rules_format_of(config, rules->kind, rules->to),
		.stamp = stamps[outputs->log_timestamp],
		.flags =
			(outputs->log_full == LOG_FULL_BLOCK ? LOGGER_BLOCK : 0) |
			(outputs->log_compress ? LOGGER_COMPRESS : 0) |
			(outputs->log_timestamp >= LOG_TIMESTAMP_ISO_LOCAL ? LOGGER_LOCAL_TIME : 0),
		.priority = LOG_INFO,
		.keep = (uint32_t)outputs->log_keep,
		.memory = MEMORY,
		.mode = FILE_MODE,
		.has_group = outputs->log_group != (gid_t)-1,
		.group = outputs->log_group,
		.size = outputs->log_size == UINT64_MAX ? 0 : outputs->log_size,
		.age_usec = outputs->log_age_usec,
	};
}

bool log_rules(struct logger_rules *rules, const char **file, const struct node_config *config,
	       enum logger_kind kind, const struct log_sinks *sinks)
{
	struct destination out = log_rules_destination_of(config, LOGGER_OUTPUT, sinks);
	struct destination own = log_rules_destination_of(config, kind, sinks);

	if (!own.captured)
		return false;
	*rules = (struct logger_rules){ .to = own.to, .kind = kind };
	*file = own.file;
	log_rules_reload(rules, config);
	return kind == LOGGER_OUTPUT || rules->format == LOGGER_JSON || !out.captured ||
	       rules->format != log_rules_format_of(config, LOGGER_OUTPUT, out.to) ||
	       out.to != own.to || strcmp(out.file, own.file) != 0;
}
