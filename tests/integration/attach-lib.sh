# shellcheck shell=bash
# For tests of attached programs, after lib.sh: a program under test is tests/helpers/attached, which carries
# out commands.

# The command of a service NAME, which reads its commands from $dir/NAME.fifo and writes $dir/NAME.log.
attached() { # NAME [COMMAND...]
	local name=$1 command text
	shift
	mkfifo "$dir/$name.fifo"
	text="$helpers/attached $dir/$name.fifo $dir/$name.log"
	for command; do
		text+=" '$command'"
	done
	echo "$text"
}

followed() { # NAME COMMAND: how often it has carried the command out
	grep -cFx -- "done $2" "$dir/$1.log"
}
has_followed() { [ "$(followed "$1" "$2")" -gt "$3" ]; } # NAME COMMAND TIMES

# A program that has ended is not waited for.
tell() { # NAME COMMAND: and it has carried the command out
	local before
	before=$(followed "$1" "$2")
	echo "$2" 1<>"$dir/$1.fifo"
	wait_for 10 has_followed "$1" "$2" "$before" || die "$1 follows: $2"
}

got() { says "$dir/$1.log" "^$2\$"; } # NAME LINE

# A value of the guards that the program of a service reports; nothing if it reports none.
program() { # NODE FIELD
	ctl guards --json "$1" | jq -r --arg node "$1" --arg field "$2" \
		'.guards[] | select(.node == $node and .kind == "program") | .[$field]'
}
counts() { [ "$(program "$1" count)" = "$2" ]; } # NODE NUMBER
has_guards() { [ "$(field "$1" .guards)" = "$2" ]; } # NODE NUMBER
explains() { [ "$(program "$1" why)" = "$2" ]; } # NODE WHY
