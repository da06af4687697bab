#!/bin/bash
# A program that is attached to its service's node: its guards are seen there, and it sees the stop.
. "${0%/*}/lib.sh"
. "${0%/*}/attach-lib.sh"

monotonic() { # MILLISECONDS: ago, in microseconds
	awk -v ago="$1" '{ printf "%.0f", $1 * 1000000 - ago * 1000 }' /proc/uptime
}

export SWANSONG_ATTACH=7:8
config <<END
[web]
command = $(attached web attach 'lane 0 2' 'elsewhere 1')
attach = yes
listen = unix:$dir/web.socket
ready = fd:5
drain-delay = 700ms
[web/plain]
command = sh -c 'env >$dir/plain.env; exec $helpers/idle'
[db]
command = $(attached db attach)
attach = yes
restart-delay = 10ms
[app]
command = $helpers/signal-log $dir/app.got 0 $dir/app.go
requires = db
[fork]
command = $(attached fork attach 'elsewhere 2' prefork)
attach = yes
shutdown-timeout = 10s
restart = never
[first]
command = $(attached first attach 'elsewhere 2' 'report 2 1 a.c:1 first|')
attach = yes
END
mkfifo "$dir/app.go"
start_daemon
unset SWANSONG_ATTACH

# --- Guards in status and in guards ---

for name in web db fork; do
	wait_for 10 got "$name" 'done attach' || die "$name is attached"
done
wait_for 10 got first 'done report.*' || die "first has something to report"
is "a program is not asked for a report without a client" "$(grep -c 'got REPORT' "$dir/first.log")" 0
is "the first answer has its report" "$(program first why)" 'a.c:1 first'
is "the descriptors come after the sockets, and leave out that of ready" \
	"$(tr '\0' '\n' <"/proc/$(pid_of web)/environ" | grep -x 'SWANSONG_ATTACH=.*')" SWANSONG_ATTACH=4:6
wait_for 10 test -s "$dir/plain.env" || die "plain is there"
ok "a service without attach has no such variable" not says "$dir/plain.env" SWANSONG_ATTACH
ok "the page has the size that it has" tell web shorten
ok "for good" not says "$dir/web.log" changed
ok "the guards are counted" wait_for 10 counts web 3
is "the node counts its own guards, the program's, and those of the nodes below" "$(field web .guards)" 5
is "above as well" "$(ctl status --json | jq '.nodes[0].guards')" "$(ctl guards --json | jq '[.guards[] | .count // 1] | add')"
is "of the process that is attached" "$(program web pid) $(program web command)" "$(pid_of web) attached"
tell web 'elsewhere -4'
tell web 'lane 0 9'
is "wherever they were taken and dropped" "$(program web count)" 5
tell web 'lane 0 void'
tell web 'elsewhere 5'
is "a guard outside all lanes is counted" "$(program web count)" 5
tell web 'lane 0 3'
tell web 'elsewhere 7'
tell web gathered
is "and so are the guards of all lanes at the end" "$(program web count)" 7
tell web "report 3 $(monotonic 5000) web.c:41 serve|1 $(monotonic 90000) db.c:7 a\\$(printf '\033')|"
ok "the program is asked for their reasons" wait_for 10 explains web $'3 x web.c:41 serve, 1 x db.c:7 a\\\e'
like "with the age of the oldest" "$(program web age_usec)" '^(9|[1-9][0-9])[0-9]{7}$'
like "for people" "$(ctl guards web)" " web +program +1min.* attached, pid $(pid_of web), root, 7 guards, \"3 x web.c:41 serve, 1 x db.c:7 a..x1b\""
like "on the page of the node" "$(ctl status web)" 'program, attached, pid .*, 7 guards, "3 x'
tell web 'report garbage'
sleep_until_asked() { ctl guards >/dev/null; [ "$(grep -c 'got REPORT' "$dir/web.log")" -ge "$1" ]; }
ok "it is asked again and again" wait_for 10 sleep_until_asked $(($(grep -c 'got REPORT' "$dir/web.log") + 2))
ok "an invalid report has no effect" explains web $'3 x web.c:41 serve, 1 x db.c:7 a\\\e'
tell web 'elsewhere -3'
is "less than none is none" "$(program web count)" ""

# --- A program that has ended ---

tell db 'elsewhere 9'
ok "there are guards of db" wait_for 10 counts db 9
before=$(pid_of db)
kill -KILL "$before"
anew() { has_state db up && [ "$(pid_of db)" != "$before" ]; }
ok "it crashes and is there again" wait_for 10 anew
attached_anew() { [ "$(grep -c 'done attach' "$dir/db.log")" = 2 ]; }
wait_for 10 attached_anew || die "db is attached again"
is "its guards are gone" "$(program db count) $(field db .guards)" " 1"
tell db 'elsewhere 4'
ok "the next run has a page of its own" wait_for 10 counts db 4

# --- Its identity ---

tell db rival
ok "a second process is refused" got db refused
is "and changes nothing" "$(program db count) $(program db pid)" "4 $(pid_of db)"
child=$(pgrep -P "$(pid_of fork)")
ok "the lock, and the guards, may be another process's" wait_for 10 counts fork 2
is "the child is named then" "$(program fork pid)" "$child"
echo 'elsewhere 3' 1<>"$dir/fork.fifo"
ok "and counts" wait_for 10 counts fork 3
kill -KILL "$child"
ok "until it ends" wait_for 10 counts fork ""

# --- A reload ---

page() { readlink "/proc/$1/fd/3"; stat -L -c %i "/proc/$1/fd/3"; } # PID
before="$(pid_of db) $(page "$(pid_of db)")"
cat >>"$ini" <<END
[new]
command = $helpers/idle
END
ok "a reload" ctl reload
is "lets process and page be" "$(pid_of db) $(page "$(pid_of db)")" "$before"
is "and its guards" "$(program db count)" 4
sed -i '/^\[db\]/a stop-timeout = 30s' "$ini"
ok "a reload that changes the service live" ctl reload
is "does so, too" "$(pid_of db) $(program db count)" "${before%% *} 4"

# --- The stop ---

wait_for 10 says "$dir/app.got" ready || die "app is there"
tell db 'report 4 1 db.c:1 query|'
ctl stop --no-wait db >"$dir/out"
ok "the stop is in the page and in a message, while the signal waits for a dependent" \
	wait_for 10 got db 'got STOP 1'
is "which it does" "$(state db)" waiting
ok "it is no signal" not got db TERM
ok "a report is asked for at once" wait_for 10 got db 'got REPORT 1'
holds_up() { ctl guards --blocking | grep -Eq ' db +program .* 4 guards, "db.c:1 query"$'; }
ok "the guards that hold it up are reported" wait_for 10 holds_up
tell db 'say COMPLETE'
ok "until the program reports none any more" wait_for 10 counts db ""
is "for the node, too" "$(field db .guards)" 1
echo >"$dir/app.go"
ok "then it goes" ctl wait --for complete db
ok "with its signal" got db TERM
tell web 'elsewhere 0'
tell web 'say COMPLETE'
tell web 'elsewhere 2'
is "a service that is not stopped is not complete" "$(program web count)" 2

tell web 'ready 5'
wait_for 10 has_state web up || die "web is up"
ok "a stop with a drain-delay" ctl stop web
is "is there before that" "$(grep -E 'STOP|TERM' "$dir/web.log" | paste -sd,)" 'got STOP 1,TERM'
like "which comes when the delay is over" "$(grep -E 'web: (up|draining|waiting) ->' "$log" | paste -sd,)" \
	'web: up -> draining,.*web: draining -> waiting'
ok "a start after that" ctl start --no-wait web
ok "has a new page" wait_for 10 counts web 3

# --- The end of a run that is no stop of its node ---

cat >>"$ini" <<END
[late]
command = $(attached late attach 'elsewhere 1' ignore)
attach = yes
ready = fd:9
start-timeout = 300ms
stop-timeout = 300ms
restart = never
END
ok "a reload of a service that does not get ready" ctl reload
ok "the service gets the message of its end" wait_for 10 got late 'got STOP 1'
ok "and ended" wait_for 10 has_state late failed
is "with its guards" "$(program late count)" ""

# --- Busy ---

cat >>"$ini" <<END
[busy]
command = $(attached busy attach 'elsewhere 2' gathered ignore)
attach = yes
stop-timeout = 400ms
drain-timeout = 60s
[stay]
command = $(attached stay ignore 'elsewhere 1' 'prefork stay')
attach = yes
stop-timeout = 400ms
drain-timeout = 60s
END
ok "two that take their time" ctl reload
for name in busy stay; do
	wait_for 10 got "$name" 'refused|done attach|done prefork stay' || die "$name is attached"
done
child=$(program stay pid)
ctl stop --no-wait busy stay >"$dir/out"
for name in busy stay; do
	ok "$name: a service with guards is waited for" wait_for 10 says "$log" "$name: busy: [12] guards?; waiting up to"
	ok "$name: its signal comes" wait_for 10 got "$name" TERM
done
tell busy 'elsewhere 0'
tell busy 'say COMPLETE'
ok "busy: when they are gone it has its stop-timeout" wait_for 20 has_state busy down
kill -KILL "$child"
ok "stay: likewise when the holder of the guards is gone" wait_for 20 has_state stay down
ok "both were killed then" says "$log" 'stay: killing pid'

# --- The end ---

tell web ignore
tell web 'report 3 1 web.c:41 serve|'
ok "there are guards" wait_for 10 explains web 'web.c:41 serve'
kill -TERM "$daemon"
# The kernel makes one of two signals that are pending together.
wait_for 10 says "$log" 'root: shutting down: SIGTERM' || die "the daemon has the first signal"
kill -TERM "$daemon"
ok "the guards that hold up the end are named" wait_for 10 says "$log" \
	"SIGTERM again; .*web: 3 guards of pid $(pid_of web) \(web.c:41 serve, "
echo 'exit 0' 1<>"$dir/web.fifo"
await_daemon 20
is "and at the end of that all is complete" "$status" 0
finish
