#!/bin/sh
# The completions have every command and option of swansongctl, and editors know the keys.
. "${0%/*}/lib.sh"
export LC_ALL=C # for sort
PATH=${top_builddir:?}:$PATH
SWANSONG_SOCKET=/nonexistent
export PATH SWANSONG_SOCKET
completions=$top_builddir/contrib/completion
# A daemon with one node, when there is $dir/daemon.
mkdir "$dir/bin"
cat >"$dir/bin/swansongctl" <<END
#!/bin/sh
[ "\$3" = list ] && [ -e "$dir/daemon" ] && echo web && exit
exec "$(command -v swansongctl)" "\$@"
END
chmod +x "$dir/bin/swansongctl"
PATH=$dir/bin:$PATH
in_bash() { # WORD...: the words that the last one may become
	# shellcheck disable=SC2016  # for the other shell
	bash -c '. "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _swansongctl; printf "%s\n" "${COMPREPLY[@]}"' \
		"$completions/swansongctl" swansongctl "$@" | sort | paste -sd ' '
}
in_fish() { # WORD...
	# shellcheck disable=SC2016  # for the other shell
	HOME=$dir fish --no-config -c 'source $argv[1]; complete -C (string join -- " " swansongctl (string escape -n -- $argv[2..-1]))' \
		"$completions/swansongctl.fish" "$@" 2>&1 | sort | paste -sd ' '
}
is() { # NAME GOT WANTED
	status=0
	[ "$2" = "$3" ] || status=1
	printf 'got:  %s\nwant: %s\n' "$2" "$3" >"$dir/is"
	result "$1" "$status" "$dir/is"
}
completes() { # SHELL
	shell=in_$1
	is "$1: commands" "$($shell sta)" "start status"
	is "$1: commands after an option" "$($shell -q shu)" "shutdown"
	is "$1: an option of the command" "$($shell shutdown --fo)" "--force"
	is "$1: and none of another" "$($shell stop --fo)" ""
	is "$1: whom" "$($shell signal --scope a)" "all"
	is "$1: a signal" "$($shell signal US)" "USR1 USR2"
	is "$1: states" "$($shell wait --for r)" "ready running"
	is "$1: what help is for" "$($shell help guards)" "guards"
	is "$1: a file" "$($shell plot --report "$top_srcdir/tests/lint/completi")" "$top_srcdir/tests/lint/completion.sh"
	is "$1: a key" "$($shell run -p restart-d)" "restart-delay-max= restart-delay="
	is "$1: none that a transient service cannot have" "$($shell run -p control-s) $($shell run -p instan)" " "
	touch "$dir/daemon"
	is "$1: a node" "$($shell reload '') $($shell reload --dry-run '')" "web web"
	is "$1: nothing for the value of an option" "$($shell reload --to '')$($shell logs -n '')$($shell guard --ttl '')" ""
	rm "$dir/daemon"
	is "$1: no nodes without a daemon" "$($shell start '')" ""
}
completes bash
if command -v fish >/dev/null; then
	completes fish
else
	skip "fish" "package fish"
fi

# A key, one that is misspelled, and a quoted word.
printf '[web] ; one\ncommand = sh -c "true"\ncomand = 1\n' >"$dir/swansong.ini"
editor=$top_builddir/contrib/editor
if command -v nano >/dev/null && command -v python3 >/dev/null; then
	# Bright, then green or red: names of the colours of the key and of the unknown one.
	printf '%s\n' 'expect 36m\[web\]' 'expect 32mcommand =' 'expect 33m"true"' 'expect 31mcomand =' 'send \x18' 'end 0' >"$dir/steps"
	try "nano: keys have a colour" env TERM=xterm HOME="$dir" \
		python3 "$top_srcdir/tests/helpers/terminal.py" nano --rcfile "$editor/swansong.nanorc" "$dir/swansong.ini" <"$dir/steps"
else
	skip "nano" "package nano"
fi
cat >"$dir/script.vim" <<-END
	syntax on
	syn clear
	unlet! b:current_syntax
	source $editor/swansong.vim
	let out = map([[1, 1], [1, 7], [2, 1], [2, 17], [3, 1]], 'synIDattr(synID(v:val[0], v:val[1], 1), "name")')
	call writefile(out, "$dir/vim")
	qa!
END
if vim --version 2>/dev/null | grep -q '+syntax'; then
	timeout 30 vim -u NONE -i NONE -es -S "$dir/script.vim" "$dir/swansong.ini" </dev/null || :
	is "vim: keys have a colour" "$(xargs <"$dir/vim")" \
		"swansongSection swansongComment swansongKey swansongQuoted swansongAssignment"
else
	skip "vim" "package vim"
fi
finish
