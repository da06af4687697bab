# swansong-guard.sh: guards of a shell script on its own service, by the descriptor that swansongd gives
# it with "control = yes"; see swansong-guard(7).  For any POSIX shell, without other programs.
#
#	. /usr/share/swansong/swansong-guard.sh
#	trap '' TERM				# a stop begins with a signal, to this script
#	swansong_guard "nightly backup"		# the stop waits from here on
#	pg_dump -f /backup/db
#	swansong_release "nightly backup"	# ... to here
#
# Without a daemon, or after its end, they do nothing.  The status is 0, or 2 for an error in the script:
# the reason is missing or longer than 200 bytes, or the shell cannot use this descriptor.

swansong_guard() { # WHY
	_swansong_call TakeGuard "$@"
}

swansong_release() { # WHY: all that were taken for this
	_swansong_call Release "$@"
}

# A subshell does the work: it leaves no variables behind, and SIGPIPE kills only the subshell.

_swansong_call() ( # METHOD WHY
	set +eux
	LC_ALL=C
	if [ $# != 2 ] || [ -z "$2" ] || [ "${#2}" -gt 200 ]; then
		echo "swansong-guard: a guard needs a WHY of 1 to 200 bytes" >&2
		exit 2
	fi
	case ${SWANSONG_CONTROL-} in
	'' | *[!0-9]*) exit 0 ;;
	??*) _swansong_reach || exit ;;
	esac
	_swansong_escape "$2"
	trap 'exit 0' EXIT
	trap '' PIPE
	exec 2>/dev/null
	# There is no reply, so nothing has to be read.
	printf '{"method":"io.swansong.%s","parameters":{"why":"%s"},"oneway":true}\0' \
		"$1" "$text" >&"$SWANSONG_CONTROL"
)

# Some shells, for example dash, can use descriptors up to 9 only; sockets of listen may take these.
_swansong_reach() {
	(: >&"$SWANSONG_CONTROL") 2>/dev/null && return
	[ -e "/proc/self/fd/$SWANSONG_CONTROL" ] || exit 0
	echo "swansong-guard: this shell cannot write to descriptor $SWANSONG_CONTROL" >&2
	return 2
}

# Sets $text to the contents of a JSON string; bytes that are no UTF-8 become "?".
_swansong_escape() { # TEXT
	text=
	rest=$1
	case $rest in
	*[!\ -~]*) _swansong_ranges ;;
	esac
	while [ -n "$rest" ]; do
		case $rest in
		[\"\\]*) one='?' as=\\${rest%"${rest#?}"} ;;
		[\ -~]*) one='?' as=${rest%"${rest#?}"} ;;
		[[:cntrl:]]*) one='?' as=$(printf '\\u%04x' "'$rest") ;;
		$two$tail*) one='??' as=${rest%"${rest#??}"} ;;
		$e0$tail* | $three$tail$tail* | $ed$tail*) one='???' as=${rest%"${rest#???}"} ;;
		$f0$tail$tail* | $four$tail$tail$tail* | $f4$tail$tail*)
			one='????' as=${rest%"${rest#????}"}
			;;
		*) one='?' as='?' ;;
		esac
		text=$text$as
		# shellcheck disable=SC2295  # a pattern: so many bytes
		rest=${rest#$one}
	done
}

# The bytes of UTF-8, as patterns.
_swansong_ranges() {
	tail=$(printf '[\200-\277]')
	two=$(printf '[\302-\337]')
	e0=$(printf '\340[\240-\277]')
	three=$(printf '[\341-\354\356\357]')
	ed=$(printf '\355[\200-\237]')
	f0=$(printf '\360[\220-\277]')
	four=$(printf '[\361-\363]')
	f4=$(printf '\364[\200-\217]')
}
