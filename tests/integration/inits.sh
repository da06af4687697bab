# shellcheck shell=bash
# The programs that stand in front of one command, for the tests of it: each of them has to do the same.  The
# name of one is in $subject, and the command line up to the command in "${init[@]}", with "${options[@]}"
# last.  After lib.sh.

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
	: "${init[@]}" # for the stories
}

status_of() { # COMMAND...: prints its exit status
	"$@" >>"$log" 2>&1 </dev/null
	echo $?
}

# Numbers of processes: of the init in $daemon, when it has been started through unshare as PID 1.
inner() { pgrep -P "$daemon"; }

# A command at a terminal, with typed input from standard input: see terminal.py.
terminal() { TERM=dumb python3 "$top_srcdir/tests/helpers/terminal.py" "$@"; }
