#!/bin/bash
# A service in Python beside the real daemon: its guards are shown and waited for, and it learns of the stop.
. "${0%/*}/lib.sh"
requires_package python3 python3
[ "$(python3 -c 'import sys; print(sys.version_info >= (3, 9))')" = True ] ||
	skip_all "package python3 of 3.9 or later"
export PYTHONPATH=$top_srcdir/contrib/python PYTHONDONTWRITEBYTECODE=1

mkfifo "$dir/fifo"
config <<END
[app]
command = python3 "$top_srcdir/tests/helpers/python-service.py" "$dir/fifo" "$dir/app.log"
attach = yes
control = yes
stop-timeout = 20s
drain-timeout = 1min
kill-signal = SIGUSR1
stop-signal = SIGCONT ; so that it ends by the page and the socket alone
[app/held]
END
start_daemon
ctl wait --for ready
tell() { echo "$1" >"$dir/fifo"; wait_for 10 says "$dir/app.log" "did $1" || die "the service gets: $1"; }
held() { ctl guards app --json | jq -r "[.guards[] | select(.kind == \"$1\") | .why // \"\"] | join(\",\")"; }
holds() { [[ "$(held "$1")" =~ ^$2$ ]]; } # KIND REGEX

ok "it is attached" wait_for 10 says "$dir/app.log" attached
tell "guard export"
ok "its own guard is counted, with its place" wait_for 10 holds program 'export \(python-service.py:[0-9]+ follow\)'
tell "lease nightly export"
is "its lease is one" "$(held lease)" "nightly export"
is "by its process" "$(ctl guards app --json | jq '.guards[] | select(.kind == "lease").pid')" "$(pid_of app)"
tell release
ok "which is released" wait_for 10 holds lease ''
tell "lease second"

ctl shutdown app --no-wait
ok "the stop arrives without a signal" wait_for 10 says "$dir/app.log" 'stopped with 1'
echo "lease third" >"$dir/fifo"
ok "no new lease then" wait_for 10 says "$dir/app.log" 'refused: stopped'
tell release
ok "it is busy, and the kill is far" test "$(field app .service.next_usec)" -gt 30000000
echo drop >"$dir/fifo"
ok "with the last guard it ends by itself" wait_for 10 says "$dir/app.log" complete
ok "and all of it is complete" ctl wait app --for complete --timeout 60s
is "nothing was forced" "$(field app .forced)" false
stop_daemon 10
is "clean" "$status" 0
finish
