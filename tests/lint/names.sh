#!/bin/sh
# Each static function begins with the name of its module: listener_open() or listeners_open() in listeners.c.
# These prefixes are a module's:
#
#	- the name of the file, singular or plural; of stop-order.c also stop_;
#	- the first word of a function that the file exports: log_ in files.c, as log_file_open() is there;
#	- a struct that its header defines: frame_queue_ in frame.c;
#	- a type of keys that the file defines: bool_ in plain.c, as type_bool is there.
# shellcheck source=tests/lint/lib.sh
. "${0%/*}/lib.sh"

# Files that are not looked at, and why.
cat >"$dir/exceptions" <<'END'
base/cleanup.h                     freep() and closep() are named after free(3) and close(2)
swansong/base/atomic-private.h     named after the kernel's and pthreads' functions, as atomic_ is of C11
swansong/count/object-private.h    node_ is of struct swansong, as in node.c
END

cd "$top_srcdir/src" || exit
# shellcheck disable=SC2046  # a list of files
awk '
	FILENAME ~ /exceptions$/ { except[$1]; next }

	FNR == 1 {
		module = FILENAME
		sub(/(-private)?\.[ch]$/, "", module)
		file = module
		sub(/.*\//, "", file)
		gsub(/-/, "_", file)
		prefix[module, file]
		if (module ~ /-[^\/]*$/)
			prefix[module, substr(file, 1, index(file, "_") - 1)]
		if (module ~ /^swansong\/[a-z]*$/) # public headers
			prefix[module, "swansong"]
	}
	/^struct [a-z_]+ \{/ && FILENAME ~ /\.h$/ { prefix[module, $2] }
	sub(/^(const struct type type_|(TYPE|WORDS)\()/, "") {
		sub(/[^a-z_].*/, "")
		prefix[module, $0]
		next
	}
	# A function: its definition begins at the margin.
	/^[a-z].*\(/ && !/^(typedef|extern)/ && !/;$/ {
		is_static = /^static /
		gsub(/__attribute__\(\(.*\)\) /, "")
		sub(/\(.*/, "")
		sub(/.*[ *]/, "")
		if (is_static) {
			name[++n] = $0
			place[n] = "src/" FILENAME ":" FNR
			of[n] = FILENAME in except ? "" : module
		} else {
			sub(/_.*/, "")
			prefix[module, $0]
		}
	}

	function begins(name, prefix,    singular) {
		singular = prefix
		if (!sub(/ies$/, "y", singular))
			sub(/s$/, "", singular)
		return index(name, prefix "_") == 1 || index(name, prefix "s_") == 1 || index(name, singular "_") == 1
	}
	END {
		for (key in prefix) {
			split(key, part, SUBSEP)
			for (i = 1; i <= n; i++)
				if (of[i] == part[1] && begins(name[i], part[2]))
					of[i] = ""
		}
		for (i = 1; i <= n; i++)
			if (of[i] != "")
				print place[i] ": " name[i] "(): expected the name of the module in front"
	}' "$dir/exceptions" $(find . -name '*.[ch]' ! -name main.c | sed 's|^\./||' | sort) >"$dir/bare"
try "each static function has the name of its module" is_empty "$dir/bare"

cut -d' ' -f1 "$dir/exceptions" | while read -r file; do
	[ -e "$file" ] || echo "$file"
done >"$dir/gone"
try "each exception is there" is_empty "$dir/gone"
finish
