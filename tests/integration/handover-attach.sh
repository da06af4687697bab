#!/bin/bash
# An attached program is handed over: each run has its guards on its own node, also after the daemon was killed.
. "${0%/*}/lib.sh"

own_program
cat >"$dir/run" <<END
#!/bin/bash
mkfifo $dir/\$\$.fifo
exec $(realpath "$helpers")/attached $dir/\$\$.fifo $dir/\$\$.log attach 'lane 0 2' 'elsewhere 1' ignore
END
chmod 755 "$dir/run"
config <<END
[web]
command = $dir/run
attach = yes
listen = unix:$dir/web.socket
handover = yes
stop-timeout = 1s
drain-timeout = 1min
END
follows() { # PID COMMAND: and it has carried the command out
	echo "$2" 1<>"$dir/$1.fifo"
	wait_for 10 says "$dir/$1.log" "^done $2\$" || die "pid $1 follows: $2"
}
guards_of() { ctl guards --json | jq --arg node "$1" '[.guards[] | select(.node == $node and .kind == "program").count] | add'; } # NODE
is_another() { [ "$(worker)" != "$1" ] && ctl_answers; } # PID
has_no_predecessor() { [ "$(ctl status --json | jq '.nodes | length')" = 2 ]; }

launch "$swansongd" --keeper -v -c "$ini" --socket "$socket"
wait_for 10 ctl_answers || die "swansongd answers"
ctl wait --for ready --timeout 10s
one=$(pid_of web)
wait_for 5 says "$dir/$one.log" 'done ignore' || die "it holds guards"
ok "a restart" ctl restart web
two=$(pid_of web)
wait_for 5 says "$dir/$two.log" 'done ignore' || die "the next run holds guards, too"
is "each run has its own" "$(guards_of 'web~1') $(guards_of web)" '3 3'
ok "the earlier one sees the stop" wait_for 5 says "$dir/$one.log" '^got STOP'
like "the status counts its guards" "$(ctl status web)" 'generation 1 is finishing: 4 guards'
before=$(worker)
kill -KILL "$before"
ok "the daemon is killed" wait_for 10 is_another "$before"
is "both runs go on" "$(pid_of web) $(pid_of 'web~1')" "$two $one"
is "with their guards" "$(guards_of 'web~1') $(guards_of web)" '3 3'
is "and none was lost" "$(grep -l 'hung up' "$dir"/*.log)" ''
follows "$one" 'lane 0 0'
follows "$one" 'elsewhere 0'
echo 'exit 0' 1<>"$dir/$one.fifo"
ok "the earlier one ends by itself" wait_for 10 gone "$one"
ok "and its node goes with it" wait_for 5 has_no_predecessor
follows "$two" 'lane 0 0'
follows "$two" 'elsewhere 0'
is "no guard is left" "$(guards_of web)" null
stop_daemon
finish
