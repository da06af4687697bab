#!/bin/bash
# scale: the number of instances of a template is changed without its file, and outlives reloads, faults and restarts of
# the daemon.
. "${0%/*}/lib.sh"

state=$dir/state
tree() { # [LINE...]
	cat <<-END
	[swansong]
	exit-when = never
	state = $state
	[web@]
	instances = 2
	command = $helpers/idle
	environment-file = $dir/env.%i
	[named@]
	instances = blue green
	command = $helpers/idle
	[front]
	command = $helpers/idle
	requires = web@
	END
	[ $# = 0 ] || printf '%s\n' "$@"
}
instances() { ctl list 'web@*' 2>/dev/null | paste -sd ' '; }
are() { [ "$(instances)" = "$1" ]; } # NAMES
is_scaled() { says "$state" "^instances web@ $1\$"; } # NUMBER
fails() { ! ctl "$@" >"$dir/out" 2>&1; }

for i in 1 2 3 4 5; do echo "I=$i" >"$dir/env.$i"; done
tree | config
start_daemon
ok "all is ready" ctl wait --for ready --timeout 60s
front=$(pid_of front) one=$(pid_of web@1)
is "scale reports it" "$(ctl scale web@ 4)" "web@: instances = 4"
is "there are so many" "$(instances)" "web@1 web@2 web@3 web@4"
ok "they start" ctl wait --for ready --timeout 60s web@3 web@4
ok "it is in the state file" is_scaled 4
like "the start and it are in changes, with their causes" "$(ctl changes | tr '\n' ' ')" '1 .* start 2 .*asked by pid'
is "no other service is restarted" "$(pid_of front) $(pid_of web@1)" "$front $one"
ok "scale to fewer" ctl scale web@ 1
ok "the others are stopped and removed" wait_for 10 are "web@1"
is "a node that requires the template goes on" "$(pid_of front)" "$front"
ok "scale to more again" ctl scale web@ 3
ok "a service of it is disabled" ctl disable web@2

ok "a reload" ctl reload
is "leaves the number" "$(instances)" "web@1 web@2 web@3"
kill -ABRT "$daemon"
ok "a fault of the daemon is survived" wait_for 10 has_faults 1
is "so is the number" "$(instances)" "web@1 web@2 web@3"
is "and the processes" "$(pid_of web@1)" "$one"
stop_daemon
start_daemon
is "a restart of the daemon leaves the number" "$(instances)" "web@1 web@2 web@3"
is "with what is disabled" "$(field web@2 .service.disabled)" true

fails scale web@ 6
like "a number without the files of its instances is refused" "$(cat "$dir/out")" "no file $dir/env.6"
is "and nothing has changed" "$(instances)" "web@1 web@2 web@3"
fails scale web@ 0
like "so is one that leaves no node for requires" "$(cat "$dir/out")" "no node 'web@'"
ok "in the state file neither" is_scaled 3
fails scale named@ 3
like "instances with names have no number" "$(cat "$dir/out")" "its instances have names"
fails scale none@ 3
like "a template must exist" "$(cat "$dir/out")" "none@: no template has this name"
fails scale front 3
like "and be one" "$(cat "$dir/out")" "is no template"
fails scale web@ many
like "a number is expected" "$(cat "$dir/out")" "expected a number"

tree '[other]' "command = $helpers/idle" | config
fails scale web@ 5
like "other changes of the files are not taken along" "$(cat "$dir/out")" "the files have other changes"
ok "after a reload" ctl reload
ok "it is possible" ctl scale web@ 5
is "with the other node" "$(ctl list other) $(instances)" "other web@1 web@2 web@3 web@4 web@5"
ok "default gives the number of the file again" ctl scale web@ default
ok "which is 2" wait_for 10 are "web@1 web@2"
ok "and the state file has none" not says "$state" '^instances'

ok "a rollout that pauses" ctl rollout web@ --pause-after 1 --settle 50ms
fails scale web@ 4
like "a scale in the middle of one is refused" "$(cat "$dir/out")" "a rollout is not finished"
is "and changes nothing" "$(instances)" "web@1 web@2"
ok "neither in the state file" not says "$state" '^instances'
ok "it goes on" ctl rollout --continue
ok "a number after it" ctl scale web@ 3
fails rollout --undo
like "ends its way back" "$(cat "$dir/out")" "no rollout to undo"

# A number that cannot be kept does not count.
rm -rf "$state.folder"
mkdir "$state.folder"
sed -i "s|^state = .*|state = $state.folder/state|" "$ini"
ok "another state file" ctl reload
ok "and a number in it" ctl scale web@ 2
rm -rf "$state.folder"
fails scale web@ 5
like "without its folder a number is refused" "$(cat "$dir/out")" "Not a directory"
ok "and the former one is there" wait_for 10 are "web@1 web@2"
mkdir "$state.folder"
ok "with the folder it is kept" ctl scale web@ 4
ok "a number while" ctl scale web@ 4
is "it is the same" "$(instances)" "web@1 web@2 web@3 web@4"

ctl scale web@ 4 >/dev/null
ctl scale web@ 2 >/dev/null &
kill -TERM "$daemon"
await_daemon 20
is "a shutdown in the middle ends well" "$status" 0
finish
