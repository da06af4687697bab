#!/bin/bash
# swansong-convert for a Procfile, and for the service directories of runit and s6-rc: their files become keys, or are
# named with a reason; and the processes of a Procfile end together.
. "${0%/*}/lib.sh"
. "${0%/*}/convert-lib.sh"
requires_package python3 python3

is_golden "swansong-convert procfile" Procfile procfile.ini
is_golden "swansong-convert runit" runit runit.ini
is_golden "swansong-convert s6-rc" s6-rc s6-rc.ini

refused() { # REGEX READER ARGUMENT
	"$converters/swansong-convert" "$2" -o "$dir/refused.ini" "$3" >"$dir/refused" 2>&1
	is "$2: ${3##*/} is refused" "$? $(grep -Ec "$1" "$dir/refused")" "2 1"
}
mkdir "$dir/empty"
printf 'a: x\na: y\n' >"$dir/twice"
: >"$dir/nothing"
refused 'there is no service with a file run' runit "$dir/empty"
refused 'there is no service with a file type' s6-rc "$dir/empty"
refused 'twice:2: a is in line 1 as well' procfile "$dir/twice"
refused 'there are no processes' procfile "$dir/nothing"
refused 'No such file or directory' procfile "$dir/missing"
refused 'No such file or directory' runit "$dir/missing"
"$converters/swansong-convert" nothing x >"$dir/usage" 2>&1
is "an unknown reader is a wrong command line" $? 2

survives procfile "$confs/Procfile"
ok "large inputs of each reader end in time, with a result or a refusal" \
	python3 "$top_srcdir/tests/helpers/large-inputs.py" "$converters/swansong-convert" "$dir/large" 60
sed 's/^/# /' "$dir/ok.out"
rm -rf "$dir/large"

# --- A Procfile and a folder of runit, which run ---------------------------------------------------

export WORLD=$dir/world COMMON=common OWN=own
mkdir "$WORLD"
cp "$confs/tell" "$WORLD/tell"
: >"$WORLD/said"
# shellcheck disable=SC2016 # for the shell of the process
printf 'stays: ./tell stays stay $PORT\nends: ./tell ends stay "two  words"\n' >"$WORLD/Procfile"
umask 022
"$converters/swansong-convert" procfile -o "$ini" "$WORLD/Procfile"
is "the Procfile is converted" $? 0
both_started() { [ "$(grep -c ': started' "$WORLD/said")" = 2 ]; }
start_daemon
ok "both processes start" wait_for 30 both_started
ctl signal TERM ends
await_daemon 30
is "when one ends, the other is stopped" "$(sort "$WORLD/said")" "ends: started <two  words> in <> umask 0022 <common> <own>
ends: stopped by TERM
stays: started <5000> in <> umask 0022 <common> <own>
stays: stopped by TERM"

mkdir -p "$dir/service/a"
: >"$WORLD/said"
# shellcheck disable=SC2016 # for the shell of the service
printf '#!/bin/sh\nexec "$WORLD/tell" a exit 3\n' >"$dir/service/a/run"
# shellcheck disable=SC2016
printf '#!/bin/sh\nexec "$WORLD/tell" finish exit "$@"\n' >"$dir/service/a/finish"
chmod +x "$dir/service/a"/*
"$converters/swansong-convert" runit -o "$ini" "$dir/service" 2>"$dir/runit.err"
is "the folder of runit is converted" $? 0
restarts() { [ "$(grep -c '^finish: started <3> <0>' "$WORLD/said")" -ge 2 ]; }
start_daemon
ok "a service that ends is started again, after its finish script" wait_for 30 restarts
stop_daemon 30
finish
