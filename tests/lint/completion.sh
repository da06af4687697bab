#!/bin/sh
# The completion of bash has every command and option of swansongctl.
. "${0%/*}/lib.sh"
command -v bash >/dev/null || {
	echo "1..0 # SKIP package bash"
	exit 0
}
PATH=${top_builddir:?}:$PATH
SWANSONG_SOCKET=/nonexistent
export PATH SWANSONG_SOCKET
words_after() { # WORD...: what the last one may become
	# shellcheck disable=SC2016  # for the other shell
	bash -c '. "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _swansongctl; echo "${COMPREPLY[*]}"' \
		"${top_builddir:?}/contrib/completion/swansongctl" swansongctl "$@"
}
is() { # NAME GOT WANTED
	status=0
	[ "$2" = "$3" ] || status=1
	printf 'got:  %s\nwant: %s\n' "$2" "$3" >"$dir/is"
	result "$1" "$status" "$dir/is"
}
is "commands" "$(words_after sta)" "status start"
is "commands after an option" "$(words_after -q shu)" "shutdown"
is "an option of the command" "$(words_after shutdown --fo)" "--force"
is "and none of another" "$(words_after stop --fo)" ""
is "whom" "$(words_after signal --scope a)" "all"
is "a signal" "$(words_after signal US)" "USR1 USR2"
is "states" "$(words_after wait --for r)" "ready running"
is "what help is for" "$(words_after help guards)" "guards"
is "a file" "$(words_after plot --report "$top_srcdir/tests/lint/completi")" "$top_srcdir/tests/lint/completion.sh"
is "a key" "$(words_after run -p restart-d)" "restart-delay= restart-delay-max="
is "none that a transient service cannot have" "$(words_after run -p control-s) $(words_after run -p inst)" " "
is "no nodes without a daemon" "$(words_after start '')" ""
finish
