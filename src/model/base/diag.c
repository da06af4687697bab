/*
 * Entries are kept in an array that is sorted on insertion, by the rank of the file and by line.
 * The rank of a file is its position in the order of loading.
 */
#include "model/base/diag.h"

struct entry {
	enum diag_level level;
	size_t rank; /* of the file */
	struct place place;
	char *text; /* NULL: out of memory */
};

struct diag {
	char **files; /* in the order of loading */
	size_t n_files;
	size_t n_levels[DIAG_ERROR + 1];
	size_t n_entries;
	struct entry entries[DIAG_MAX]; /* in order at any time */
};

int diag_new(struct diag **ret)
{
	struct diag *diag = calloc(1, sizeof(*diag));

	if (!diag)
		return -ENOMEM;
	*ret = diag;
	return 0;
}

struct diag *diag_free(struct diag *diag)
{
	if (!diag)
		return NULL;
	for (size_t i = 0; i < diag->n_entries; i++)
		free(diag->entries[i].text);
	for (size_t i = 0; i < diag->n_files; i++)
		free(diag->files[i]);
	free(diag->files);
	return free_memory(diag);
}

static size_t diag_rank(struct diag *diag, const char *file)
{
	for (size_t i = diag->n_files; i > 0; i--) {
		if (strcmp(diag->files[i - 1], file) == 0)
			return i - 1;
	}
	if (array_reserve(diag->files, diag->n_files) < 0)
		return SIZE_MAX;
	diag->files[diag->n_files] = strdup(file);
	if (!diag->files[diag->n_files])
		return SIZE_MAX;
	return diag->n_files++;
}

void diag_file(struct diag *diag, const char *file)
{
	(void)diag_rank(diag, file);
}

static char *diag_text(struct place place, const char *format, va_list args) printf_like(2, 0);

static char *diag_text(struct place place, const char *format, va_list args)
{
	char *what, *text;

	if (vasprintf(&what, format, args) < 0)
		return NULL;
	if (place.file && place.line > 0)
		text = text_format("%s:%u: %s", place.file, place.line, what);
	else
		text = text_format("%s%s%s", place.file ? place.file : "", place.file ? ": " : "",
				   what);
	free(what);
	for (char *p = text; p && (p = strchr(p, '\n'));)
		*p = ' ';
	return text;
}

static bool diag_entry_is_before(const struct entry *a, const struct entry *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->place.line < b->place.line;
}

/* Each instance of a template has the mistakes of its section.  @end: of the entries up to its place. */
static bool diag_is_repeated(const struct diag *diag, const struct entry *entry, size_t end)
{
	for (size_t i = end; i > 0 && !diag_entry_is_before(&diag->entries[i - 1], entry); i--)
		if (entry->text && diag->entries[i - 1].text &&
		    strcmp(entry->text, diag->entries[i - 1].text) == 0)
			return true;
	return false;
}

void diag_add(struct diag *diag, enum diag_level level, struct place place, const char *format, ...)
{
	struct entry entry = { .level = level, .place.line = place.line };
	va_list args;
	size_t i;

	if (diag->n_entries == DIAG_MAX) {
		diag->n_levels[level]++;
		return;
	}

	/* Entries without a file come first. */
	entry.rank = place.file ? diag_rank(diag, place.file) : 0;
	if (place.file && entry.rank < SIZE_MAX)
		entry.place.file = diag->files[entry.rank];
	va_start(args, format);
	entry.text = diag_text(place, format, args);
	va_end(args);

	for (i = diag->n_entries; i > 0 && diag_entry_is_before(&entry, &diag->entries[i - 1]); i--)
		continue;
	if (diag_is_repeated(diag, &entry, i)) {
		free(entry.text);
		return;
	}
	diag->n_levels[level]++;
	memmove(&diag->entries[i + 1], &diag->entries[i],
		(diag->n_entries - i) * sizeof(*diag->entries));
	diag->entries[i] = entry;
	diag->n_entries++;
}

size_t diag_errors(const struct diag *diag)
{
	return diag->n_levels[DIAG_ERROR];
}

size_t diag_warnings(const struct diag *diag)
{
	return diag->n_levels[DIAG_WARNING];
}

void diag_each(const struct diag *diag,
	       void (*emit)(enum diag_level level, struct place place, const char *text, void *arg),
	       void *arg)
{
	size_t kept = diag->n_entries;
	size_t all = diag_errors(diag) + diag_warnings(diag);
	size_t errors_kept = 0;
	char more[64];

	for (size_t i = 0; i < kept; i++) {
		const struct entry *entry = &diag->entries[i];

		errors_kept += entry->level == DIAG_ERROR;
		emit(entry->level, entry->place,
		     entry->text ? entry->text : "error without text: out of memory", arg);
	}
	if (all == kept)
		return;
	(void)snprintf(more, sizeof(more), "%zu more, not shown", all - kept);
	emit(diag_errors(diag) > errors_kept ? DIAG_ERROR : DIAG_WARNING,
	     (struct place){ .file = NULL }, more, arg);
}

struct report {
	struct log *log;
	FILE *file;
};

static void diag_report_entry(enum diag_level level, struct place place, const char *text,
			      void *arg)
{
	const struct report *report = arg;

	if (report->log)
		log_line(report->log, level == DIAG_ERROR ? LOG_ERR : LOG_WARNING, "%s", text);
	if (report->file && level == DIAG_ERROR)
		(void)fprintf(report->file, "\n%s", text);
}

void diag_report(const struct diag *diag, struct log *log, FILE *file)
{
	diag_each(diag, diag_report_entry, &(struct report){ log, file });
}

char *diag_excerpt(char buf[static DIAG_EXCERPT_MAX], const char *text)
{
	size_t room = DIAG_EXCERPT_MAX - sizeof("...");
	size_t n = strnlen(text, room + 1);

	const char *end = n > room ? "..." : "";

	/* A cut inside a character moves to its beginning. */
	for (n = MIN(n, room); *end && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
		;
	(void)strcpy(mempcpy(buf, text, n), end);
	return buf;
}
