#!/bin/bash
# Variables of the daemon's environment in values of the configuration.
. "${0%/*}/lib.sh"

export COLOUR='light green' MASK=027 EMPTY='' PLACE=$dir
cat >"$ini" <<'END'
[a]
command = sh -c 'env >"$0"; exec sleep 1000' "%{PLACE}/env"
umask = %{MASK}
directory = %{PLACE}
stop-timeout = %{NO_SUCH_VARIABLE:-7s}
environment = "A=%{COLOUR}" B=%{EMPTY:-of-%n} 'C=%%{COLOUR}' D=%{EMPTY} E=100%%
[%{NO_NAME}]
END
is "a name has none" "$("$swansongctl" check "$ini" 2>&1 | grep -c NO_NAME)" 1
sed -i '/NO_NAME/d' "$ini"
ok "a configuration with variables is valid" "$swansongctl" check "$ini"
start_daemon
ok "its service starts" wait_for 10 test -s "$dir/env"
wait_for 10 has_state a up
is "values have the variables" "$(grep -E '^[A-E]=' "$dir/env" | sort | tr '\n' ' ')" \
	"A=light green B=of-a C=%{COLOUR} D= E=100% "
is "of every key" "$(awk '/^Umask/ { print $2 }' "/proc/$(pid_of a)/status")" 0027
is "also a directory" "$(readlink "/proc/$(pid_of a)/cwd")" "$dir"
like "and the default" "$(ctl show a 2>&1)" "stop-timeout *= *7s"

old=$(pid_of a)
export MASK=077
ok "a reload" ctl reload
is "has the variables of the daemon, not those of the client" "$(pid_of a)" "$old"
ok "so has a check with other ones" "$swansongctl" check "$ini"
sed -i 's/^umask = .*/umask = %{NO_SUCH_VARIABLE}/' "$ini"
ok "a variable that is not set" not ctl reload
like "is an error with its line" "$("$swansongctl" check "$ini" 2>&1)" \
	":3: \[a\] umask: invalid value '%\{NO_SUCH_VARIABLE\}': the variable of a %\{NAME\} is not set; expected octal"
for form in '%{' '%{MASK' '%{MASK:}' '%{MASK:+1}' '%{}' '%{A B}'; do
	sed -i "s/^umask = .*/umask = $form/" "$ini"
	ok "and so is $form" not "$swansongctl" check "$ini"
done
is "the service goes on" "$(pid_of a)" "$old"
stop_daemon
is "until a shutdown" "$status" 0
finish
