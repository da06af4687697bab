#!/bin/bash
# In front of one command that has a terminal: job control works, before it and behind it.
. "${0%/*}/lib.sh"
. "${0%/*}/inits.sh"
requires_package python3 python3

# shellcheck disable=SC2016  # for the inner shell
printf '%s\n' "PS1='ready- '" "bind 'set enable-bracketed-paste off'" >"$dir/rc"
shell=(bash --rcfile "$dir/rc" -i)

# Nothing typed is to arrive while the terminal changes hands, so each step waits for a word of the
# program that is to read the next; the quotes keep that word out of what is typed.
in_front() {
	cat <<-'END'
		expect ready-
		send sh -c 'echo be""gins; exec cat'\r
		expect begins
		send \x1a
		expect Stopped
		expect ready-
		send jobs\r
		expect Stopped +sh
		expect ready-
		send fg\r
		expect exec cat
		send abc\r
		expect abc\s+abc
		send \x03
		expect ready-
		send echo status $?\r
		expect status 130
		expect ready-
		send stty size\r
		expect 24 80
		expect ready-
		size 30 90
		send stty size\r
		expect 30 90
		expect ready-
		send exit 5\r
		end 5
	END
}

behind() { # INIT
	sed "s|INIT|$1|" <<-'END'
		expect ready-
		send INIT sh -c 'echo be""gins; exec cat'\r
		expect begins
		send abc\r
		expect abc\s+abc
		send \x1a
		expect Stopped
		expect ready-
		send echo status $?\r
		expect status 148
		expect ready-
		send fg\r
		expect exec cat
		send def\r
		expect def\s+def
		send \x1a
		expect Stopped
		expect ready-
		send bg; until [ "$(jobs -s)" ]; do :; done; echo re""ads\r
		expect reads
		expect ready-
		send fg\r
		expect exec cat
		send ghi\r
		expect ghi\s+ghi
		send \x04
		expect ready-
		send echo status $?\r
		expect status 0
		expect ready-
		send INIT cat & until [ "$(jobs -s)" ]; do :; done; echo re""ads\r
		expect reads
		expect ready-
		send fg\r
		expect cat
		send jkl\r
		expect jkl\s+jkl
		send \x03
		expect ready-
		send echo status $?\r
		expect status 130
		expect ready-
		send INIT sh -c 'echo be""gins; exec cat' | cat\r
		expect begins
		send \x1a
		expect Stopped
		expect ready-
		send fg\r
		expect cat
		send mno\r
		expect mno\s+mno
		send \x04
		expect ready-
		send sh -c "INIT true; echo re''ads; read x; echo read: \\$x"\r
		expect reads
		send after\r
		expect read: after
		expect ready-
		send exit 0\r
		end 0
	END
}

# The command learns of a new window size by itself.
window() {
	cat <<-'END'
		expect begins
		size 40 100
		expect 40 100
		expect over
		end 0
	END
}

for subject in "${subjects[@]}"; do
	choose "$subject"
	in_front >"$dir/script"
	ok "$subject: a shell behind it has job control" \
		terminal "${init[@]}" "${shell[@]}" <"$dir/script"
	ok "$subject: and has it with PID 1 in front" \
		terminal unshare --pid --fork --mount-proc "${init[@]}" "${shell[@]}" <"$dir/script"
	ok "$subject: there is no message about terminals or job control" \
		not grep -E 'job control|terminal process group' "$dir/ok.out"
	behind "${init[*]}" >"$dir/script"
	ok "$subject: it is a job of a shell" terminal "${shell[@]}" <"$dir/script"
	window >"$dir/script"
	# shellcheck disable=SC2016  # for the inner shell
	ok "$subject: the size of the window arrives" terminal "${init[@]}" bash -c '
		trap "stty size; size=yes" WINCH
		echo begins
		until [ "$size" ]; do sleep 0.05; done
		echo over' <"$dir/script"
	# Where no process could resume it, the terminal suspends nothing.
	cat >"$dir/script" <<-'END'
		expect begins
		send \x1a
		expect \^Z
		send abc\r
		expect abc\s+abc
		send \x04
		end 0
	END
	for enter in "" "unshare --pid --fork --mount-proc setsid -c"; do
		if [ -n "$enter" ] && ! is_root; then
			skip "$subject: Ctrl-Z does no harm as PID 1" "machine: needs root, to take the terminal"
			continue
		fi
		# shellcheck disable=SC2086  # words
		ok "$subject: Ctrl-Z does no harm where no process could resume it${enter:+, as PID 1}" \
			terminal $enter "${init[@]}" sh -c 'echo begins; exec cat' <"$dir/script"
	done
done
finish
