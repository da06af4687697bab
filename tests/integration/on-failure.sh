#!/bin/bash
# on-failure-command: the failures that start it, its environment, and its time limit.
. "${0%/*}/lib.sh"

webhook=$top_srcdir/contrib/webhook/swansong-webhook
told=$dir/told
cat >"$dir/alert" <<-END
	#!/bin/sh
	echo "\$1 \$SWANSONG_NODE \$SWANSONG_REASON \$SWANSONG_EXIT" >>$told
	[ ! -p $dir/block-\$1 ] || read -r _ <$dir/block-\$1
END
chmod +x "$dir/alert"
told() { says "$told" "^$1\$"; }
times() { [ "$(grep -c "^$1 " "$told")" = "$2" ]; } # NAME NUMBER

cat <<END >"$dir/tree"
[swansong]
exit-when = never
shutdown-timeout = 60s
[once]
command = sh -c 'exit 3'
restart = never
on-failure-command = false
on-failure-command = $dir/alert once
on-failure-interval = 1h
[again]
command = sh -c 'kill -KILL \$\$'
restart-delay = 1ms
restart-limit = 2/1min
on-failure-command = $dir/alert again
[missing]
command = $dir/no-such-program
restart = never
on-failure-command = $dir/alert missing
[good]
command = true
restart = never
on-failure-command = $dir/alert good
[slow]
command = false
autostart = no
restart = never
on-failure-command = sleep 1000
on-failure-timeout = 300ms
[words]
command = sh -c 'seq -f "line %%g" 20; echo an error >&2; exit 1'
restart = never
autostart = no
on-failure-command = sh -c 'cat >$dir/first'
on-failure-command = sh -c 'cat >$dir/second'
[silent]
command = false
restart = never
autostart = no
on-failure-command = sh -c 'cat >$dir/silent; echo read >>$dir/silent'
[held]
command = false
autostart = no
restart = never
on-failure-command = $dir/alert held
on-failure-interval = 0
END
config <"$dir/tree"
start_daemon
ok "it runs when the service has failed, all of its commands" wait_for 10 told 'once once exit-code exited with status 3'
ok "a failed one is in the log" says "$log" 'once: on-failure-command exited with status 1'
ok "it runs when the restarts are used up" wait_for 10 told 'again again signal killed by SIGKILL'
is "and not after each run" "$(grep -c '^again' "$told")" 1
ok "it runs when there is no program" wait_for 10 says "$told" '^missing missing resources '
ok "an end without failure is none" wait_for 10 has_state good 'done'
is "it does not run then" "$(grep -c '^good' "$told")" 0

ctl start once >/dev/null 2>&1
ok "within its interval it is left out" wait_for 10 says "$log" 'once: on-failure-command left out: .*interval'
is "so it has run once" "$(grep -c '^once' "$told")" 1

ctl start slow >/dev/null 2>&1
ok "a command that hangs is killed" wait_for 10 says "$log" 'slow: killing on-failure-command, .*: its on-failure-timeout is spent'

# Its standard input has the last lines of the service, and ends then.
ctl start words silent >/dev/null 2>&1
{ seq -f 'line %g' 12 20; echo an error; } >"$dir/expected"
ok "it has the last ten lines on standard input" wait_for 10 cmp "$dir/first" "$dir/expected"
ok "and so has each further one" wait_for 10 cmp "$dir/second" "$dir/expected"
ok "without a line there is the end of the input" wait_for 10 says "$dir/silent" '^read$'
is "and nothing before" "$(cat "$dir/silent")" read

# It is a guard like another, and the next run need not wait for it.
mkfifo "$dir/block-held"
ctl start held >/dev/null 2>&1
ok "a command runs" wait_for 10 times held 1
like "is shown as a guard" "$(ctl guards held)" 'on-failure-command'
ctl start held >/dev/null 2>&1
ok "is not run twice at once" wait_for 10 says "$log" 'held: on-failure-command left out: the last one is not over'
sed -i '/^on-failure-command = .*held$/d' "$ini"
ok "a reload without it" ctl reload
like "lets it run" "$(ctl guards held)" 'on-failure-command'
config <"$dir/tree"
ok "and so does one that has it again" ctl reload
echo >"$dir/block-held"
no_guards() { not says <(ctl guards held) on-failure-command; }
ok "until it has ended" wait_for 10 no_guards
rm "$dir/block-held"
ctl start held >/dev/null 2>&1
ok "the new one runs at the next failure" wait_for 10 times held 2

# A stop waits for it, within its budget.
sed -i 's/^shutdown-timeout = .*/shutdown-timeout = 2s/' "$ini"
ctl reload >/dev/null
mkfifo "$dir/block-held"
ctl start held >/dev/null 2>&1
ok "at a shutdown it runs" wait_for 10 times held 3
begin=$(now)
stop_daemon 30
within "the shutdown ends with its budget" "$(($(now) - begin))" 1000 20000
ok "which kills it" says "$log" 'held: killing on-failure-command, .*: the budget is spent'
rm "$dir/block-held"

# An essential service: the end of the tree waits for the command.
config <<END
[main]
command = false
restart = never
essential = yes
on-failure-command = $dir/alert main
END
launch "$swansongd" -v -c "$ini" --socket "$socket"
await_daemon 20
is "the tree ends with the service" "$status" 1
ok "and with its on-failure-command" told 'main main exit-code exited with status 1'

# The example, with a curl that only writes its arguments to a file.
if command -v jq >/dev/null; then
	mkdir "$dir/bin"
	# shellcheck disable=SC2016  # of that script
	printf '#!/bin/sh\ncat >%s/posted\nfor a; do :; done\necho "$a" >%s/url\n' "$dir" "$dir" >"$dir/bin/curl"
	chmod +x "$dir/bin/"*
	config <<-END
	[swansong]
	exit-when = never
	[web/app]
	command = sh -c 'echo last words; exit 7'
	restart = never
	log = file:$dir/app.log
	environment = PATH=$dir/bin:$PATH
	on-failure-command = $webhook http://hook.example/x
	END
	start_daemon
	ok "the web hook is called" wait_for 20 test -s "$dir/url"
	is "with its address" "$(cat "$dir/url")" http://hook.example/x
	is "and the node" "$(jq -r .node "$dir/posted")" web/app
	is "the reason" "$(jq -r .reason "$dir/posted")" exit-code
	like "the end and the last lines" "$(jq -r .text "$dir/posted")" 'exited with status 7.*last words'
	stop_daemon
fi
finish
