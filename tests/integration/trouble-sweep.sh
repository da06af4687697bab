#!/bin/bash
# Each system call of the daemon fails once, in a story of a start, a restart, a reload and a stop.
# The daemon keeps its promises: it refuses to start and logs why, or every service runs, once, a command that
# is refused succeeds when it is repeated, and the stop is complete; if kill(2) fails it may be forced, as the
# log and the exit status show.
#
#	CALLS=all WORLD_TIMEOUT=3600 trouble-sweep.sh	every call that is made, with every error
#	CALLS=openat ...				those of one call
#
# Without CALLS it is the first or the last of each call, with one error.  The table at the end has the
# outcomes of each call with each error.
. "${0%/*}/lib.sh"
requires_package strace strace

errors=(EAGAIN ENOMEM EMFILE EINTR EIO)
# They cannot fail, or not in the daemon alone.  rt_sigprocmask refuses wrong arguments only, and the C library, which
# calls it in functions of its own such as sigaction, goes on with the mask that it has not got.
never=' brk exit exit_group futex getegid geteuid getgid getpid getppid gettid getuid mmap mprotect'
never+=' munmap restart_syscall rt_sigprocmask rt_sigreturn umask '
mkfifo "$dir/fifo"
exec 5<>"$dir/fifo" # a write to it never waits

write_config() {
	config <<-END
	[a]
	stop-timeout = 4s
	command = $helpers/idle a
	post-stop = true
	[b]
	stop-timeout = 4s
	command = $helpers/idle b
	requires = a
	[n]
	stop-timeout = 4s
	command = $helpers/notifier $dir/fifo
	ready = notify
	[once]
	command = true
	type = oneshot
	END
}

# --- The story -----------------------------------------------------------------------------------

start_traced() { # STRACE-OPTION...
	strace -DDD -qq -o "$dir/trace" "$@" "$(program swansongd)" -v -c "$ini" --socket "$socket" \
		>"$log" 2>&1 </dev/null &
	daemon=$!
}

are() { # STATES
	local got
	got=$(ctl status --json 2>/dev/null | jq -r '[.nodes[] | select(.service) |
		"\(.path) \(.service.state)"] | join(", ")')
	[ "$got" = "$1" ]
}
answers_or_gone() { [ -S "$socket" ] || gone "$daemon"; }
are_or_gone() { gone "$daemon" || are "$1"; }

runs_once() { # WORD: of the command line
	[ "$(pgrep -fc "idle $1\$")" = 1 ]
}

# A command that fails has to succeed when it is repeated.
repeated() { # COMMAND...
	"$@" >"$dir/out" 2>&1 && return 0
	outcome=again
	"$@" >"$dir/out" 2>&1
}

broken() { # NAME
	outcome="broken: $1"
	return 1
}

refused() {
	wait "$daemon"
	[ $? -ge 1 ] && says "$log" "$said.*(cannot|failed|served|: )" || broken "it ends without a word" || return
	outcome=refused
}

start_restart_reload() {
	local old states='a up, b up, n up, once done'
	echo READY=1 >&5
	wait_for 10 answers_or_gone
	ctl wait / --for ready --timeout 10s >"$dir/out" 2>&1 # a fault may end it early
	wait_for 10 are_or_gone "$states" || broken "not all services run" || return
	if gone "$daemon"; then
		refused
		return
	fi
	old=$(pid_of a)
	repeated ctl restart a --timeout 60s || broken "a cannot be restarted" || return
	wait_for 10 is_up_anew a "$old" || broken "a is not restarted" || return
	printf '[c]\ncommand = %s/idle c\n' "$helpers" >>"$ini"
	repeated ctl reload --timeout 60s || broken "the reload is refused twice" || return
	wait_for 10 are "a up, b up, n up, once done, c up" || broken "not all services run at last" ||
		return
	for word in a b c; do
		wait_for 5 runs_once "$word" || broken "$word does not run once" || return
	done
}

stop_all() {
	[ "$outcome" = refused ] || {
		kill -TERM "$daemon" 2>/dev/null
		wait_for 15 is_zombie_or_gone "$daemon" || broken "the stop does not end"
		wait "$daemon"
		status=$?
		if [ "$status" = 124 ] && [ "$failing" = kill ] && says "$log" ': killing '; then
			outcome=forced
			status=0
		fi
		[ "$status" = 0 ] || [[ $outcome == broken* ]] || broken "exit status $status"
	}
	wait_for 5 nobody_else || [[ $outcome == broken* ]] || broken "a process is left"
}

failing= # the call
story() { # STRACE-OPTION...
	outcome=ok
	rm -f "$socket" "$socket.lock"
	write_config
	start_traced "$@"
	start_restart_reload
	stop_all
	[[ $outcome != broken* ]] || {
		end_process "$daemon"
		pkill -KILL -f "$helpers/" || :
		wait_for 5 nobody_else || :
	}
	rm -f "$ini"
}

# --- The calls -----------------------------------------------------------------------------------

story -e trace=all
[ "$outcome" = ok ] || {
	says "$log" 'ptrace|strace' && skip_all "machine: refuses ptrace ($(tail -n 1 "$log"))"
	die "the story goes well without a fault ($outcome)"
}
cp "$dir/trace" "$dir/calls"

# The number of the first call in main(), and of the last: NAME FIRST LAST, a line each.
list_calls() {
	awk -v never="$never" '
		/^prctl\(PR_SET_CHILD_SUBREAPER/ { main = 1 }
		match($0, /^[a-z0-9_]+\(/) {
			name = substr($0, 1, RLENGTH - 1)
			n[name]++
			if (!main || index(never, " " name " "))
				next
			if (!(name in first))
				first[name] = n[name]
		}
		END { for (name in first) print name, first[name], n[name] }' "$dir/calls" | sort
}

# --- The table -----------------------------------------------------------------------------------

declare -A table
names=()
print_table() {
	local call error kind n cell
	printf '%-16s' call
	printf ' %-22s' "${errors[@]}"
	echo
	for call in "${names[@]}"; do
		printf '%-16s' "$call"
		for error in "${errors[@]}"; do
			cell=
			for kind in ok again refused forced broken; do
				n=${table[$call $error $kind]:-}
				[ -z "$n" ] || cell+="${cell:+, }$n $kind"
			done
			printf ' %-22s' "${cell:--}"
		done
		echo
	done | sed 's/ *$//'
}
show_table() { print_table | comment; }
cleanup_fn show_table # also if the test ends early

# --- The faults ----------------------------------------------------------------------------------

n_stories=0
try() { # CALL ERROR NUMBER
	failing=$1
	story -e "trace=$1" -e "inject=$1:error=$2:when=$3"
	n_stories=$((n_stories + 1))
	case $outcome in
	broken*)
		result 1 "$1 number $3 fails with $2: ${outcome#broken: }"
		tail -n 30 "$log" | comment
		table[$1 $2 broken]=$((${table[$1 $2 broken]:-0} + 1))
		;;
	*) table[$1 $2 $outcome]=$((${table[$1 $2 $outcome]:-0} + 1)) ;;
	esac
}

i=0
while read -r call first last <&3; do
	names+=("$call")
	case ${CALLS:=sample} in
	sample)
		try "$call" "${errors[i % ${#errors[@]}]}" $((i % 2 ? first : last))
		i=$((i + 1))
		;;
	all | "$call")
		for error in "${errors[@]}"; do
			for ((n = first; n <= last; n++)); do
				try "$call" "$error" "$n"
			done
		done
		;;
	esac
done 3< <(list_calls)
result $((n_failed > 0)) "no promise is broken by one fault, in $n_stories stories"
finish
