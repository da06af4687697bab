#!/bin/sh
# The English of comments, messages, names of tests, the manual and the texts beside it:
#
#	- few words that hide the subject: who, nobody and the like stay under 1 in 1,000 words of each layer
#	  and of the manual; what and whatever under 4;
#	- no comment, message or sentence opens with who, what, that, one, those or whatever;
#	- one term for one thing: words that the glossary of swansongd(8) replaces are found nowhere;
#	- each source of more than 60 lines begins with its model, a comment of two lines or more;
#	- spelling.
#
# Words that are right in another sense are not looked for: together, rest, dropped, way, place, word, gate;
# nor names of the control protocol: gated, losses.
. "${0%/*}/lib.sh"
here=$(cd "${0%/*}" && pwd)
cd "${top_srcdir:?}" || exit

terms="tell,tells,told,telling,say,says,said,saying"                   # log, notify, report, reply
terms="$terms,followed up,settled"                                     # processed, in the update turn
terms="$terms,sweep,sweeps,look after,looks after,looked after"        # orphan scan, reap
terms="$terms,leftover,leftovers,what is left,stranger,strangers"      # remaining process, unowned process
terms="$terms,in vain,hopeless,bereft,circle,circles"                  # blocked, dependents of, dependency cycle
terms="$terms,fallen"                                                  # failed
terms="$terms,is due,are due,let be,is no more,are no more"            # expired, kept, detached
names="leftover,leftovers,stranger,strangers,hopeless,bereft,circle,circles,fallen,sweep,nobody,somebody,whoever"

find src tests man contrib ./*.md \( -name '*.[ch]' -o -path 'tests/*.sh' -o -path 'contrib/*.sh' -o -path 'man/*.[1-9]' -o -path 'man/*.in' \
	-o -name '*.md' \) ! -path tests/lint/english.sh | sort >"$dir/files"
xargs awk -v terms="$terms" -v names="$names" -f "$here/english.awk" <"$dir/files" >"$dir/wrong"
try "the English of comments, messages, names and pages" is_empty "$dir/wrong"

# The model is the first comment, before all code but the includes.
# shellcheck disable=SC2046  # a list of files
awk '
	function check() { if (n > 60 && lines < 2) print file ": no model: begin with a comment of two lines or more" }
	FNR == 1 { check(); file = FILENAME; lines = in_comment = in_code = 0 }
	{ n = FNR }
	in_code || /^$|^#(include|if|endif)/ { next }
	/^\/\*/ && !lines { in_comment = 1 }
	!in_comment { in_code = 1 }
	in_comment && /[[:alpha:]]/ { lines++ }
	/\*\/$/ { in_comment = 0 }
	END { check() }' $(grep '^src/.*\.c$' "$dir/files") >"$dir/models"
try "each source begins with its model" is_empty "$dir/models"

if command -v codespell >/dev/null; then
	find .ci .github conf contrib tests -name seeds -prune -o -name found -prune -o -type f -size -90k -print 2>/dev/null |
		grep -v '\.svg$' | sort - "$dir/files" |
		xargs codespell --ignore-words "$here/english.words" --builtin clear >"$dir/spelling" 2>/dev/null || :
	try "the spelling" is_empty "$dir/spelling"
else
	skip "the spelling" "package codespell"
fi
finish
