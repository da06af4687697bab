#!/bin/bash
# Faults of the daemon between the end of a main process and that of its run: the run is not begun again, its
# post-stop follows, and a kill counts.
. "${0%/*}/lib.sh"

blocking() { # NAME: a post-stop that is at work until a line comes
	printf "post-stop = sh -c 'echo post >>%s; read -r _ <%s.go; echo \$SERVICE_RESULT >>%s'\n" "$dir/$1" "$dir/$1" "$dir/$1"
}
config <<END
[swansong]
exit-when = never
[web]
command = $helpers/idle
stop-command = sh -c '[ ! -e $dir/web ] || exit 0; echo ask >>$dir/web; read -r _ <$dir/web.go; kill -TERM \$MAINPID'
post-stop = sh -c 'echo post >>$dir/web'
[asked]
command = $helpers/idle
stop-command = sh -c 'kill -TERM \$MAINPID'
$(blocking asked)
[broken]
command = sh -c 'echo run >>$dir/broken; exit 3'
restart = never
autostart = no
$(blocking broken)
[flaky]
command = sh -c 'echo run >>$dir/flaky; exit 4'
restart-delay = 300s
restart-delay-max = 300s
autostart = no
$(blocking flaky)
[stubborn]
command = $helpers/stubborn $dir/ready
stop-timeout = 3s
$(blocking stubborn)
final = sh -c 'echo \$SWANSONG_RESULT >>$dir/stubborn'
END
mkfifo "$dir"/{web,asked,broken,flaky,stubborn}.go
start_daemon
ctl wait --for ready --timeout 60s web asked stubborn >/dev/null || die "all are up"
wait_for 10 test -s "$dir/ready" || die "stubborn ignores its signal"

# The daemon misses that the stop-command and the main process end.
web=$(pid_of web)
ctl --no-wait stop web >/dev/null
wait_for 10 says "$dir/web" ask || die "the stop-command is at work"
asking=$(pgrep -P "$daemon" -f web.go)
kill -STOP "$daemon"
echo >"$dir/web.go"
wait_for 10 is_zombie_or_gone "$web" || die "the one has ended"
wait_for 10 is_zombie_or_gone "$asking" || die "so has the other"
kill -SEGV "$daemon"
kill -CONT "$daemon"
wait_for 10 has_faults 1 || die "fault 1 is reported"
wait_for 10 ctl_answers || die "it answers"

for name in asked stubborn; do
	ctl --no-wait stop $name >/dev/null
done
for name in broken flaky; do
	ctl --no-wait start $name >/dev/null
done
for name in asked stubborn broken flaky; do
	wait_for 10 says "$dir/$name" post || die "the post-stop of $name is at work"
done
kill -SEGV "$daemon"
wait_for 10 has_faults 2 || die "fault 2 is reported"
ok "it answers" wait_for 10 ctl_answers
says_twice() { [ "$(grep -cx "$2" "$1")" = 2 ]; } # FILE LINE
has_words() { [ "$(xargs <"$dir/$1")" = "$2" ]; } # NAME WORDS
ok "web is down" wait_for 10 has_state web down
ok "after its post-stop" says "$dir/web" '^post$'
# A post-stop that a fault has interrupted begins again.
for name in asked stubborn broken flaky; do
	wait_for 10 says_twice "$dir/$name" post || die "the post-stop of $name begins again"
	echo >"$dir/$name.go"
done
ok "the other is down" wait_for 10 has_state asked down
ok "with the result of its stop" wait_for 10 has_words asked "post post success"
ok "a failed run stays failed" wait_for 10 has_state broken failed
ok "and was not begun again" has_words broken "run post post exit-code"
ok "a run that is to begin again waits" wait_for 10 has_state flaky backoff
ok "and was not begun again" has_words flaky "run post post exit-code"
ok "the killed one is down" wait_for 10 has_state stubborn down
ok "and its final action knows" wait_for 10 has_words stubborn "post post timeout forced"
ok "so does the log" says "$log" 'stubborn: complete in .* \(forced\)'
stop_daemon
finish
