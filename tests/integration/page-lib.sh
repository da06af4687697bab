# shellcheck shell=bash
# Functions of the stories of the page, after exporter-lib.sh: a browser, which tests/helpers/page.py drives.

requires_package chromium chromium
requires_package chromedriver chromium-driver
/usr/bin/python3 -c 'import selenium' 2>"$dir/selenium" || skip_all "package python3-selenium"
pictures=$top_builddir/tests/integration/page
mkdir -p "$pictures"

open_browser() { # [--trace]
	coproc BROWSER { exec /usr/bin/python3 "$top_srcdir/tests/helpers/page.py" "$url" "$@" 2>"$dir/browser"; }
	cleanup_fn end_browser
	IFS= read -r -t 60 -u "${BROWSER[0]}" reply || { comment <"$dir/browser"; die "a browser opens"; }
}
end_browser() { [ -z "${BROWSER_PID:-}" ] || end_process "$BROWSER_PID"; }
page() { # COMMAND [ARG...]: $reply is the reply
	jq -cn '$ARGS.positional' --args -- "$@" >&"${BROWSER[1]}"
	IFS= read -r -t 60 -u "${BROWSER[0]}" reply && [[ $reply != error* ]]
}
page_is() { # NAME EXPRESSION JSON
	page eval "$2"
	is "$1" "$reply" "$3"
}
page_becomes() { # NAME EXPRESSION
	local status=0
	page until "$2" || status=1
	result "$status" "$1"
	[ "$status" = 0 ] && return
	echo "$reply" | comment
	page eval "[location.pathname, document.body.className, document.querySelectorAll('.row').length, \
		document.getElementById('summary').textContent]"
	echo "$reply" | comment
}
row() { echo ".row[data-path=\"$1\"]"; } # NODE: a selector

# The best of three counts: the machine may be busy.
best_of() { printf '%s\n' "$@" | sort -n | head -n 1; } # MILLISECONDS...
