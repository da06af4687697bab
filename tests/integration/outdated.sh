#!/bin/bash
# Services with a program or a library that was replaced on disk: which ones are found, by request only, and a rollout
# of these.  Files in memory, temporary files and scripts do not count; a file system that hangs holds up no other
# answer.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
requires_root
requires_package python3 python3

# A folder that is not temporary, for the programs.
place=/mnt
mount -t tmpfs tmpfs "$place" || skip_all "machine: refuses a mount"
libm=$(ldconfig -p | awk '/libm\.so\.6/ { print $NF; exit }')
mkdir "$place"/{app,lib,root,hung}
for file in app/one app/two app/gone app/other hung/program; do
	cp "$(program tests/helpers/idle)" "$place/$file"
done
cp "$libm" "$place/lib/libm.so.6"
cp "$libm" "$place/lib/libgone.so.1.2"

# Executes parts of files in memory, of temporary ones, and of one that looks like the output of a compiler.
cat >"$place/mapper.py" <<'END'
import mmap, os, signal, sys
folder, library = sys.argv[1:]
text = open(library, "rb").read(8192)
def map_file(fd, remove=None):
    os.write(fd, text)
    kept.append(mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
    if remove:
        os.unlink(remove)
kept = []
map_file(os.memfd_create("libjit.so"))
for path in folder + "/libtemporary.so", "/dev/shm/libshared.so", "/mnt/code-1234.jit", "/run/librun.so":
    map_file(os.open(path, os.O_RDWR | os.O_CREAT, 0o700), path)
os.kill(os.getppid(), 0)
print("mapped", flush=True)
signal.pause()
END

config <<END
[web]
[web/one]
command = $place/app/one
[web/two]
command = $place/app/two
environment = LD_PRELOAD=$place/lib/libm.so.6
[web/gone]
command = $place/app/gone
environment = LD_PRELOAD=$place/lib/libgone.so.1.2
[web/script]
command = sh $place/script
[web/child]
command = sh -c '$place/app/other & wait'
[mapper]
command = python3 $place/mapper.py $dir $libm
ready = log:mapped
[quiet]
command = $helpers/idle
END
echo 'while :; do sleep 1000; done' >"$place/script"
start_daemon
ok "the tree is ready" ctl wait --for ready --timeout 60s

programs() { # NODE...
	local node
	ctl status --json >"$dir/status"
	for node; do
		jq -r --arg path "$node" '.nodes[] | select(.path == $path).service.program' "$dir/status"
	done | paste -sd ' '
}
replaced() { field "$1" .service.replaced; }
# By rename, as packages do it.
replace() { # FILE
	cp "$1" "$1.new" && mv "$1.new" "$1"
}

all="web/one web/two web/gone web/script web/child mapper quiet"
# shellcheck disable=SC2086 # words
is "nothing is replaced at first" "$(programs $all)" "current current current current current current current"
like "nothing is outdated" "$(ctl rollout --outdated)" 'nothing to restart'

replace "$place/app/one"
is "a program is" "$(programs web/one web/two)" "replaced current"
is "the answer has its file" "$(replaced web/one)" "$place/app/one"
like "status shows it" "$(ctl status web/one)" "outdated: +$place/app/one was replaced: restart it, or use rollout"
like "in the table, too" "$(ctl status)" 'web/one .* outdated'
replace "$place/lib/libm.so.6"
is "a library is" "$(programs web/two) $(replaced web/two)" "replaced $place/lib/libm.so.6"
mv "$place/lib/libgone.so.1.2" "$place/lib/libgone.so.1.3.new"
is "a library that only has another name is not" "$(programs web/gone)" current
rm "$place/lib/libgone.so.1.3.new"
is "a removed one is" "$(programs web/gone)" replaced
replace "$place/app/other"
is "so is one of a child of the main process" "$(programs web/child) $(replaced web/child)" "replaced $place/app/other"
replace "$place/script"
is "a script is not" "$(programs web/script)" current
is "files in memory and temporary ones are not" "$(programs mapper)" current
is "and no other" "$(programs quiet)" current

# --- Who sees it ---

start_exporter
outdated() { get /metrics | sed -n "s|^swansong_service_outdated{node=\"$1\"} ||p"; } # NODE
has_outdated() { [ "$(outdated "$1")" = "$2" ]; }
ok "the metrics show it" wait_for 10 has_outdated web/one 1
is "and what is not" "$(outdated quiet) $(outdated web/script)" "0 0"
like "the page without JavaScript" "$(get /)" 'web/one</th><td>up, outdated</td>'
is "the JSON" "$(got /api/tree '.nodes[] | select(.path == "web/one").service.program')" replaced

if id nobody >/dev/null 2>&1 && command -v setpriv >/dev/null; then
	chmod 666 "$socket"
	look() { setpriv --reuid nobody --clear-groups "$swansongctl" status --json; }
	is "a client that may only look sees it" "$(look | jq -r '.nodes[] | select(.path == "web/one").service.program')" replaced
	is "but no path" "$(look | jq -r '[.nodes[].service.replaced // empty] | length')" 0
fi

# --- A rollout of these ---

pids() { local i; for i; do pid_of "$i"; done | paste -sd ' '; }
kept=$(pids web/script mapper quiet)
former=$(pid_of web/one)
like "a dry run names them" "$(ctl rollout --outdated --dry-run | grep -c 'would be restarted')" 4
like "and of some nodes these" "$(ctl rollout --outdated web/one mapper --dry-run)" 'web/one: would be restarted, 1 of 1'
ok "a rollout renews them" ctl rollout --outdated --settle 50ms
ok "each" is_up_anew web/one "$former"
is "and no other" "$(pids web/script mapper quiet)" "$kept"
is "nothing is replaced any more" "$(programs web/one web/two web/child)" "current current current"
like "and another one does nothing" "$(ctl rollout --outdated)" 'nothing to restart'

sed -i "s|^\[quiet\]|&\nenvironment = VERSION=2|" "$ini"
replace "$place/app/one"
like "a dry run foresees other settings" "$(ctl rollout --outdated --dry-run)" 'quiet: would be restarted, . of 2'
kept=$(pids web/two mapper)
ok "a rollout renews those with other settings as well" ctl rollout --outdated --settle 50ms
is "and no other" "$(pids web/two mapper)" "$kept"
is "the environment is there" "$(tr '\0' '\n' <"/proc/$(pid_of quiet)/environ" | grep ^VERSION)" VERSION=2

# --- In another mount namespace ---

mkdir "$place/root"/{usr,lib,lib64,bin,old,mnt}
cat >"$place/enter" <<END
set -e
mount --make-rprivate /
mount --rbind $place/root $place/root
mount --bind $place/app $place/root/mnt
for i in usr lib lib64 bin; do [ ! -e /\$i ] || mount --rbind /\$i $place/root/\$i; done
cd $place/root
pivot_root . old
exec /mnt/apart
END
cp "$place/app/other" "$place/app/apart"
sed -i "s|^\[quiet\]|[apart]\ncommand = unshare -m sh $place/enter\n&|" "$ini"
ctl reload >"$dir/out" 2>&1
is_apart() { [ "$(readlink "/proc/$(pid_of apart)/exe")" = /mnt/apart ]; }
ok "a program of another namespace" wait_for 10 is_apart
is "is looked at there" "$(programs apart)" current
replace "$place/app/apart"
is "and found" "$(programs apart) $(replaced apart)" "replaced /mnt/apart"

# --- A file system that hangs ---

sed -i "s|^\[quiet\]|[first]\ncommand = $place/hung/program\n&|" "$ini"
ctl reload >"$dir/out" 2>&1
ok "a service of a file system" wait_for 10 has_state first up
replace "$place/app/one"
mount_hanging "$place/hung"
has_no_child() { ! pgrep -P "$daemon" -x swansongd >/dev/null; }
is "a look at other nodes does not meet it" "$(ctl status --json quiet | jq -r '.nodes[].service.program')" current
ok "and is over with its answer" has_no_child
ctl status --json >"$dir/status" &
looking=$!
"$swansongctl" list >"$dir/out"
ok "a look that hangs, for three seconds, holds up no other client" not gone "$looking"
wait "$looking"
is "the service is not known" "$(jq -r '.nodes[] | select(.path == "first").service.program' "$dir/status")" unknown
is "the others are" "$(jq -r '[.nodes[] | select(.path == "web/one" or .path == "mapper" or .path == "quiet").service.program] | join(" ")' "$dir/status")" \
	"replaced current current"
like "status shows that" "$(ctl status first)" 'outdated: +not known'
like "a rollout names it" "$(ctl rollout --outdated quiet first 2>&1)" 'first: its files cannot be looked at.*nothing to restart'
ok "no child remains" wait_for 10 has_no_child

# --- A shutdown in the middle ---

: >"$log"
"$swansongctl" rollout --outdated web --settle 30s >"$dir/out" 2>&1 &
client=$!
ok "a rollout of the outdated ones is under way" wait_for 10 sh -c "'$swansongctl' list >/dev/null; grep -q 'rollout: running' '$log'"
"$swansongctl" status >"$dir/status" &
looking=$!
stop_daemon 20
is "a shutdown ends it, and all ends well" "$status" 0
wait "$client"
is "the client is informed" "$?" 1
wait "$looking"
finish
