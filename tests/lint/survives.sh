#!/bin/sh
# A fault of the daemon, or an upgrade, loses no state without a decision: each member of a struct of src/daemon is
# in the list tests/lint/survives with its fate, and each name of the list is one of a struct.
# shellcheck source=tests/lint/lib.sh
. "${0%/*}/lib.sh"
here=$(cd "${0%/*}" && pwd)

# Is the list in order, and does it have the members of these files?
compare() { # LIST FILE...
	of=$1
	shift
	awk -f "$here/survives.awk" "$@" | sed "s|^$top_srcdir/||" >"$dir/members"
	awk -v fates='saved|derived|waited|lost|brief' '
	/^#/ { next }
	FILENAME !~ /members$/ {
		if ($0 !~ "^[a-z_0-9]+ ([a-z_0-9.]+|\\*) (" fates "): .")
			print "line " FNR ": expected STRUCT MEMBER FATE: HOW, with a fate of " fates
		if (($1, $2) in line)
			print "line " FNR ": a second one of " $1 " " $2
		line[$1, $2] = FNR
		next
	}
	{ seen[$2, $3]; seen[$2, "*"] }
	($2, "*") in line { next }
	!(($2, $3) in line) {
		print $1 ": struct " $2 " has " $3 ": tests/lint/survives must have its fate at a fault, for example"
		print $2 " " $3 " derived: of the configuration"
		next
	}
	line[$2, $3] < last[$2] { print "line " line[$2, $3] ": in the struct, " $2 " " $3 " is behind the one before" }
	{ last[$2] = line[$2, $3] }
	END {
		for (key in line)
			if (!(key in seen)) {
				split(key, part, SUBSEP)
				print "line " line[key] ": no struct " part[1] " has " part[2]
			}
	}' "$of" "$dir/members" >"$dir/wrong"
	is_empty "$dir/wrong"
}

cat >"$dir/made.h" <<'END'
struct made { /* struct { int old; }; */
	char *name, text[sizeof("}") + 2];
	bool on : 1;
	void (*on_end)(int a, void *arg);
	struct { int fd; } file;
};
END
printf 'made %s lost: a test\n' name text on on_end file.fd >"$dir/good"
finds() { # PATTERN SED: in the good list, changed by SED
	sed "$2" "$dir/good" >"$dir/list"
	! compare "$dir/list" "$dir/made.h" && grep -q "$1" "$dir/wrong"
}

try "each member has its fate at a fault of the daemon" compare "$here/survives" "$top_srcdir"/src/daemon/*/*.[ch]
try "a list with each member is good" compare "$dir/good" "$dir/made.h"
try "a new member is found" finds "struct made has on_end: .* must have its fate" /on_end/d
try "a new struct is found" finds "struct made has file.fd: " d
# shellcheck disable=SC2016  # $ of sed
try "a name without a member is found" finds "line 6: no struct made has old" '$a made old lost: a test'
try "another order is found" finds "line 1: .*made text is behind" '1{h;d};2G'
try "an unknown fate is found" finds "line 3: expected STRUCT MEMBER FATE: HOW" '3s/lost/kept/'
finish
