#!/bin/bash
# Use of processor time, memory, processes and descriptors by services, and their restarts, from control
# groups where there are any, and else from /proc.
. "${0%/*}/lib.sh"

mkfifo "$dir/again"
config <<END
[web/many]
command = sh -c '$helpers/idle & $helpers/idle & exec $helpers/idle'
[web/open]
command = bash -c 'for n in {20..49}; do eval "exec \$n</dev/null"; done; echo >$dir/open; exec $helpers/idle'
[busy]
command = bash -c 'until [ -e $dir/enough ]; do :; done; exec $helpers/idle'
[again]
command = sh -c 'read x <$dir/again; exit 1'
restart-delay = 1ms
[off]
command = $helpers/idle
autostart = no
END
used() { ctl top --json | jq -r --arg path "$1" ".nodes[] | select(.path == \$path) | .$2"; } # NODE MEMBER
uses() { [ "$(used "$1" "$2")" = "$3" ]; } # NODE MEMBER NUMBER
uses_more() { [ "$(used "$1" "$2")" -gt "$3" ]; } # NODE MEMBER NUMBER

for groups in with without; do
	[ $groups = with ] || hide_cgroups
	rm -f "$dir/open" "$dir/enough"
	start_daemon
	ok "$groups groups: a service has all its processes" wait_for 10 uses web/many processes 3
	wait_for 10 test -e "$dir/open"
	ok "$groups groups: descriptors are counted" wait_for 10 uses_more web/open descriptors 30
	ok "$groups groups: processor time grows" wait_for 60 uses_more busy cpu_usec 300000
	touch "$dir/enough"
	ok "$groups groups: memory is known" wait_for 10 uses_more web/many memory 100000
	ok "$groups groups: a group has the sum" uses web processes 4
	is "$groups groups: the use of a service without a process is unknown" "$(used off processes)" null
	ok "$groups groups: the root has the sum of all" uses_more "" cpu_usec 299999
	echo >"$dir/again"
	ok "$groups groups: restarts are counted" wait_for 10 uses_more again restarts 0
	ok "$groups groups: of the root, too" uses_more "" restarts 0
	ctl top web --once >"$dir/once"
	is "$groups groups: a node and the nodes below it are listed" "$(awk 'NR > 1 { print $1 }' "$dir/once" | paste -sd' ')" \
		"web web/many web/open"
	like "$groups groups: once, as a table" "$(head -n 1 "$dir/once")" \
		'^NODE +STATE +CPU TIME +MEMORY +PROCESSES +DESCRIPTORS +RESTARTS$'
	ctl status web/many >"$dir/page"
	ok "$groups groups: the page of a node has it" says "$dir/page" \
		'^ *uses: +[0-9.]+[mu]?s of processor time, [0-9.]+[BKM] of memory, 3 processes, [0-9]+ descriptors$'
	if command -v python3 >/dev/null; then
		cat >"$dir/script" <<-'END'
			expect CPU +CPU TIME +MEMORY
			expect web/many +up
			expect off +down
			expect %
			send \x03
			end 0
		END
		ok "$groups groups: on a terminal it goes on until it is interrupted" \
			env TERM=xterm NO_COLOR=1 LC_ALL=C.UTF-8 python3 "$top_srcdir/tests/helpers/terminal.py" \
			"$(program swansongctl)" top <"$dir/script"
	else
		skip "$groups groups: a terminal" "package python3"
	fi
	stop_daemon
	is "$groups groups: the end is graceful" "$status" 0
done

# A daemon in another namespace of processes: its numbers are those of others here.
launch unshare --pid --fork --kill-child "$swansongd" -c "$ini" --socket "$socket"
wait_for 10 ctl_answers || die "swansongd answers"
is "the numbers of another namespace are no figures" "$(used web/many processes)" null
ok "values of the daemon are shown" uses again restarts 0
kill -TERM "$(pgrep -P "$daemon")"
await_daemon 10
finish
