#!/bin/sh
# The rooms of src: a module (x.h, x.c and x-private.h) includes, and calls, only modules that are listed
# before it in src/LAYER/local.mk, and layers below its own.  One list serves both checks: files are taken
# from local.mk, includes from the sources, calls from the symbols of the objects.  HACKING.md has a line
# for each room.
# shellcheck source=tests/lint/lib.sh
. "${0%/*}/lib.sh"

# A layer, and the layers that it may use.
cat >"$dir/layers" <<'END'
base
swansong base
sys base
init sys base
model base
proto model base
logger proto sys base
sandbox sys base
daemon proto model sys swansong base
ctl proto model sys base
exporter proto model sys base
inhibit proto model base
END

# FILE MODULE, bottom first.  A public header belongs to the module of its name, where there is one.
while read -r layer _; do
	grep -o '%D%/[a-z0-9/-]*\.[ch]\>' "$top_srcdir/src/$layer/local.mk" | sed "s|%D%|$layer|"
done <"$dir/layers" | awk '
	!seen[$1]++ {
		module = $1
		sub(/(-private)?\.[ch]$/, "", module)
		if (split(module, part, "/") == 3)
			room[part[1] "/" part[3]] = module
		else if (module in room)
			module = room[module]
		print $1, module
	}' >"$dir/files"

# FROM TO FILE: a use of another module.
grep -rn '^#include ["<]' "$top_srcdir/src" --include='*.[ch]' | sed "s|^$top_srcdir/src/||" >"$dir/includes"
awk '
	NR == FNR { module[$1] = $2; next }
	{
		file = $0; sub(/:.*/, "", file)
		used = $0; sub(/.*#include ["<]/, "", used); sub(/[">].*/, "", used)
		if (used in module)
			print module[file], module[used], file
	}' "$dir/files" "$dir/includes" | sort -u >"$dir/included"

(cd "$top_builddir/src" && find . -name '*.o' -exec nm -g -A {} +) |
	sed 's|^\./||; s|/\.libs/|/|; s|/[^/:]*_la-|/|; s|/swansong[a-z_]*-main\.o|/main.o|; s|\.o:[0-9a-f ]*|.c |' >"$dir/symbols"
awk '
	FILENAME ~ /files$/ { module[$1] = $2; next }
	$2 == "U" { user[++n] = $1; symbol[n] = $3; next }
	{ split($1, part, "/"); where[part[1], $3] = $1; any[$3] = $1 }
	END {
		for (i = 1; i <= n; i++) {
			split(user[i], part, "/")
			key = part[1] SUBSEP symbol[i]
			used = key in where ? where[key] : any[symbol[i]]
			if (module[user[i]] != "" && module[used] != "")
				print module[user[i]], module[used], user[i] ":" symbol[i]
		}
	}' "$dir/files" "$dir/symbols" | sort -u >"$dir/called"

# upward USES: those of a module that is not listed before, and of a layer that is not below.
upward() {
	awk '
	FILENAME ~ /layers$/ { for (i = 1; i <= NF; i++) below[$1, $i]; next }
	FILENAME ~ /files$/ { if (!($2 in rank)) rank[$2] = ++n; next }
	$1 == $2 { next }
	{
		split($1, from, "/"); split($2, to, "/")
		if (!((from[1], to[1]) in below) || (from[1] == to[1] && rank[$2] > rank[$1]))
			print $3 ": " $1 " uses " $2
	}' "$dir/layers" "$dir/files" "$1" >"$dir/upward"
	is_empty "$dir/upward"
}

(cd "$top_srcdir/src" && find . -name '*.[ch]') | sed 's|^\./||' | sort >"$dir/there"
cut -d' ' -f1 "$dir/files" | sort | diff - "$dir/there" >"$dir/differ" || :
try "each file of src is in the list of its layer" is_empty "$dir/differ"

awk '{ print $2 }' "$dir/files" | sort -u | awk -F/ '
	{ room = NF == 3 ? $1 "/" $2 : $1; count[room] += room != "swansong" }
	END {
		for (room in count)
			if (count[room] > (room == "ctl/commands" ? 20 : 12))
				print room ": " count[room] " modules, at most 12"
	}' >"$dir/full"
try "a room has at most twelve modules" is_empty "$dir/full"

grep -E '#include "' "$dir/includes" | grep -vE '#include "[a-z]+/[a-z0-9/-]+\.h"' >"$dir/bare" || :
try "an include names its layer" is_empty "$dir/bare"
try "no module includes one that is listed after it" upward "$dir/included"

awk 'NR == FNR { there[$1]; next } $1 ~ /\.c$/ && !($1 in there) { print $1 ": no object" }' \
	"$dir/symbols" "$dir/files" >"$dir/unbuilt"
[ -x "$top_builddir/swansong-exporter" ] || sed -i '/^exporter\//d' "$dir/unbuilt" # no libmicrohttpd
try "each source has an object" is_empty "$dir/unbuilt"
try "no module calls one that is listed after it" upward "$dir/called"

hacking=$top_srcdir/HACKING.md
sed -n 's|.* \([a-z]*/[a-z]*\)/[^/]*$|\1|p' "$dir/files" | sort -u >"$dir/rooms"
# shellcheck disable=SC2016  # backticks of markdown
sed -n 's/^| `\([a-z]*\/[a-z]*\)` |.*/\1/p' "$hacking" | sort | diff - "$dir/rooms" >"$dir/differ" || :
try "HACKING.md has a line for each room" is_empty "$dir/differ"
# shellcheck disable=SC2016
grep -oE '`(src|man|tests|contrib)/[A-Za-z0-9/._-]*`' "$hacking" | tr -d '`' | sort -u | while read -r path; do
	[ -e "$top_srcdir/$path" ] || echo "no $path"
done >"$dir/missing"
try "the paths in HACKING.md exist" is_empty "$dir/missing"
finish
