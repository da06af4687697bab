# shellcheck shell=bash
# What stands in front of one command, for the tests of it: each of them is to do the same.  The name
# of one is in $subject, and the command line up to the command in "${init[@]}", with "${options[@]}"
# last.  Sourced after lib.sh.

subjects=(init daemon)
[ ! -x "$top_builddir/swansong-init-static" ] || subjects+=(static)

# Sets $subject and $init.
choose() { # SUBJECT [OPTION...]
	subject=$1
	shift
	case $subject in
	init) init=("$(program swansong-init)" "$@" --) ;;
	static) init=("$top_builddir/swansong-init-static" "$@" --) ;;
	daemon) init=("$(program swansongd)" "$@" --) ;;
	esac
	: "${init[@]}" # for those who source this
}

status_of() { # COMMAND...: its exit status in front of it all, as the answer
	"$@" >>"$log" 2>&1 </dev/null
	echo $?
}

# Numbers of processes: of the init in $daemon, when it has been started through unshare as PID 1.
inner() { pgrep -P "$daemon"; }

# A command at a terminal, and somebody who types what standard input says: see terminal.py.
terminal() { TERM=dumb python3 "$top_srcdir/tests/helpers/terminal.py" "$@"; }
