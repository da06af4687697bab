#!/bin/bash
# The commands of swansong-exporter(8) work as they are printed: on a tree with a service that has failed, and one
# that an action restarts.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"

printf '[web/api]\ncommand = %s/idle\n[flaky]\ncommand = false\nrestart = never\n' "$helpers" | config
printf "%064d\n" 7 >"$dir/token"
chmod 600 "$dir/token"

# The block of the page that has the text, with the folder of the token.
command_of() { # TEXT
	awk -v text="$1" '
		/^\.Bd -literal/ { block = ""; on = 1; next }
		/^\.Ed/ { if (index(block, text)) printf "%s", block; on = 0 }
		on { block = block $0 "\n" }' "$top_srcdir/man/swansong-exporter.8" |
		sed "s|\\\\e\$|\\\\|; s|/etc/swansong/token|$dir/token|"
}
run() { bash -o pipefail -c "$(command_of "$1")" 2>"$dir/error"; } # TEXT

start_daemon
ok "a service fails" wait_for 10 has_state flaky failed
start_exporter --actions --token-file "$dir/token"
ok "the exporter has its state" wait_for 10 shows flaky failed
is "the services that have failed" "$(run /api/tree)" flaky

pid=$(pid_of web/api)
like "an action" "$(run /api/action)" '^\{'
ok "restarts the service" wait_for 10 is_up_anew web/api "$pid"

end_process "$exporter"
stop_daemon
finish
