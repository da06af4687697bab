#!/bin/sh
# No file is opened for writing, made, renamed or removed, and no socket is bound, but by sys/file/path.h, which
# follows no link of another user (SECURITY.md).  Functions that could are looked for in the symbols of the
# objects, flags in the sources; libswansong runs in services and is not concerned.  Each exception has its reason.
# shellcheck source=tests/lint/lib.sh
. "${0%/*}/lib.sh"

# FILE FUNCTION REASON
cat >"$dir/exceptions" <<'END'
sys/file/path.c mkdirat the module
sys/file/path.c renameat the module
sys/file/path.c unlinkat the module
sys/ipc/unixsock.c bind behind path_find(), with the rights of the owner of the directory
sys/ipc/unixsock.c fchownat of an open descriptor
sys/ipc/inetsock.c bind to an address of the network
sys/ipc/connections.c bind to an address of the network
sys/process/cgroup.c mkdirat in the file system of control groups, which has no links
sys/process/cgroup.c unlinkat in the file system of control groups, which has no links
sandbox/mounts.c mkdir in a tmpfs of ours, in a namespace of ours
sandbox/mounts.c symlink in a tmpfs of ours, in a namespace of ours
daemon/notify/directory.c unlinkat in a directory that is open, and ours alone
END

# FILE REASON: flags that are not for reading, or are a variable
cat >"$dir/opens" <<'END'
sys/file/path.c the module
base/fd.c opens /dev/null
proto/logger-store.c opens a memfd of ours anew, by /proc/self/fd
sys/process/cgroup.c a file of control groups, which has no links
sys/process/usage.c a file of the kernel about pressure, in /proc or of control groups
sys/spawn/child.c a file of control groups, which has no links
sandbox/mounts.c files of /proc, which has no links; a file in a tmpfs of ours, in a namespace of ours
sys/spawn/adjust.c a file of /proc, which has no links
model/file/source.c for reading: SOURCE_FLAGS
END

makes='creat|mkdir|mkdirat|mknod|mknodat|mkfifo|mkfifoat|link|linkat|symlink|symlinkat|rename|renameat|renameat2'
makes="$makes|unlink|unlinkat|rmdir|remove|truncate|chmod|fchmodat|chown|lchown|fchownat|bind|freopen|tmpfile|mkstemp"
makes="$makes|mkostemp|mkdtemp|open_by_handle_at"

(cd "$top_builddir/src" && find . -name '*.o' ! -path './swansong/*' -exec nm -g -A {} +) |
	sed -n 's|^\./||; s|/\.libs/|/|; s|/[^/:]*_la-|/|; s|/swansong[a-z_]*-main\.o|/main.o|; s|\.o:  *U |.c |p' |
	sed 's/@.*//; s/64$//' | grep -E " ($makes)$" | sort -u | while read -r file name; do
		# An object of a file that was removed may still be there.
		[ ! -f "$top_srcdir/src/$file" ] || echo "$file $name"
	done >"$dir/calls"
awk 'NR == FNR { known[$1, $2] = 1; next } !(($1, $2) in known)' "$dir/exceptions" "$dir/calls" >"$dir/others"
try "the objects are there" test -s "$dir/calls"
try "nothing else makes, renames, removes or binds" is_empty "$dir/others"
awk 'NR == FNR { called[$1, $2] = 1; next } !(($1, $2) in called)' "$dir/calls" "$dir/exceptions" >"$dir/unused"
try "each exception is needed" is_empty "$dir/unused"

grep -rnE 'syscall\(SYS_(creat|rename|unlink|rmdir|mkdir|mknod|link|symlink|bind|chown|fchownat)' "$top_srcdir/src" \
	--include='*.c' | grep -v '/src/sys/file/path\.c:' >"$dir/direct" || :
try "none of that by its number" is_empty "$dir/direct"

# FILE PATH REASON: all calls of openat and openat2 by their number; flags may be in a variable
cat >"$dir/numbered" <<'END'
sandbox/mounts.c path with O_PATH alone
sys/file/mount.c name with O_PATH alone
sys/process/proc.c path with O_PATH alone
sys/spawn/child-attributes.c "/proc/self/oom_score_adj" a file of the kernel
sys/spawn/child.c "cgroup.procs" in an open directory of control groups, which has no links
sys/spawn/child.c paths[fd] /proc/self/fd: a pipe that is open, anew
sys/spawn/environment.c r->path for reading
END
by_number() { # FOLDER FILE: FILE PATH of each
	tr '\n\t' '  ' <"$1/$2" | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' |
		grep -oE '(raw|syscall)\( *(SYS|__NR)_open[^;{]*[;{]' |
		sed "s|^[^,]*, *[^,]*, *\([^,]*\),|\1|; s|^\([^ ]*\).*|$2 \1|"
}
find "$top_srcdir/src" -name '*.c' ! -path '*/src/swansong/*' ! -path '*/src/sys/file/path.c' | sort |
	while read -r file; do by_number "$top_srcdir/src" "${file#"$top_srcdir"/src/}" || :; done | sort -u >"$dir/by-number"
cut -d ' ' -f 1,2 "$dir/numbered" | sort >"$dir/known"
comm -3 "$dir/by-number" "$dir/known" >"$dir/unknown"
try "each file that is opened by a number is named, and no other" is_empty "$dir/unknown"
printf '\tfd = raw(SYS_openat, AT_FDCWD, r->path,\n\t\t O_WRONLY | O_CREAT);\n\tfd = (int)syscall(SYS_openat2, at, name, &how);\n' >"$dir/made.c"
try "a new one is found" test "$(by_number "$dir" made.c | xargs)" = "made.c r->path made.c name"

# Calls of open() and openat() in one line each; for reading they have O_RDONLY or O_PATH, and no O_CREAT.
find "$top_srcdir/src" -name '*.c' ! -path '*/src/swansong/*' | sort | while read -r file; do
	tr '\n\t' '  ' <"$file" | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' |
		grep -oE '[^.>_a-z](open|openat|openat2|fopen)\([^;{]*[;{]' | sed "s|^|${file#"$top_srcdir"/src/} |"
done >"$dir/all"
grep -E 'O_RDONLY|O_PATH|fopen\([^,]*, *"re"|open\("/dev/null"|open\("/proc/self/' "$dir/all" |
	grep -vE 'O_CREAT|O_TRUNC' >"$dir/reading"
grep -vxFf "$dir/reading" "$dir/all" |
	awk 'NR == FNR { known[$1] = 1; next } !($1 in known)' "$dir/opens" - >"$dir/writing"
try "the calls are found" test "$(wc -l <"$dir/all")" -gt 20
try "nothing else opens a path for writing" is_empty "$dir/writing"
finish
