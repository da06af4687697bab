#!/bin/sh
# The examples of containers, pods and jobs in contrib/: valid configurations, and times that fit.
. "${0%/*}/lib.sh"
contrib=${top_srcdir:?}/contrib
ctl=${top_builddir:?}/swansongctl

# The user redis need not exist on this machine.
sed '/^user = /d' "$contrib/container/tree.ini" >"$dir/tree.ini"
try "the tree of the Containerfile is a configuration" "$ctl" check "$dir/tree.ini"

# The configuration of supervisord: after "# after: swansong.ini", indented by four.
sed -n '/^    # after: swansong.ini$/,/^$/s/^    //p' "$contrib/container/MOVING.md" >"$dir/after.ini"
try "there is one to move to" grep -q '^\[app\]' "$dir/after.ini"
try "and it is a configuration" "$ctl" check "$dir/after.ini"

# The keys that the pages name, of those in the right column.
# shellcheck disable=SC2016  # as they stand there
sed -n 's/^|.*| *\(.*\) |$/\1/p' "$contrib/container/MOVING.md" | grep -o '`[a-z][-a-z]* = *[^`]*`\|`[a-z][-a-z]* =`' |
	sed 's/^`//; s/ =.*//' | sort -u >"$dir/named"
keys | sort -u >"$dir/keys"
comm -23 "$dir/named" "$dir/keys" >"$dir/unknown"
try "keys are named" test -s "$dir/named"
try "and they exist" is_empty "$dir/unknown"

# swansongd gets the grace of the program that stops it, and the grace is long enough.
grace_of() { # FILE REGEX: the first number of seconds after it
	sed -n "s/.*$2[^0-9]*\([0-9][0-9]*\)s\{0,1\}\"\{0,1\}.*/\1/p" "$contrib/$1" | head -n 1
}
fits() { # FILE GRACE-KEY
	leaves=$(grace_of "$1" "$2")
	told=$(sed -n '/SWANSONG_GRACE/,$p' "$contrib/$1" | grep -o '[0-9][0-9]*s' | head -n 1)
	if [ -z "$leaves" ] || [ "${leaves}s" != "$told" ]; then
		echo "$1 leaves ${leaves}s and tells $told"
		return 1
	fi
	"$ctl" plan --config "$dir/tree.ini" --grace "${leaves}s"
}
try "the pod leaves enough time, and says so" fits kubernetes/pod.yaml 'terminationGracePeriodSeconds:'
try "so does the deployment" fits kubernetes/deployment.yaml 'terminationGracePeriodSeconds:'
try "so does the job of Nomad" fits nomad/shop.nomad.hcl 'kill_timeout'
sed -n '/^  shop:/,$p' "$contrib/container/compose.yaml" >"$dir/compose.yaml"
contrib=$dir try "and the compose file" fits compose.yaml 'stop_grace_period:'
contrib=$top_srcdir/contrib

# Indented by four, as in README.md.
sed -n '/^    \$ swansongctl plan /,/^    worst case/{/\$/d;s/^    //;p;}' "$contrib/kubernetes/README.md" \
	>"$dir/says"
"$ctl" plan --config "$dir/tree.ini" --grace 25s >"$dir/is" 2>&1 || :
try "the plan that is shown is that of the tree" diff "$dir/says" "$dir/is"

# The files of Kubernetes and Nomad are valid, and the check finds mistakes.
engines() { python3 "$top_srcdir/tests/lint/engines.py" "$@"; }
finds() { # FILE SED-SCRIPT COMPLAINT
	sed "$2" "$contrib/$1" >"$dir/mistaken.${1##*.}"
	engines "$dir/mistaken.${1##*.}" >"$dir/found" && return 1
	grep "$3" "$dir/found"
}
if python3 -c 'import yaml'; then
	try "the files of Kubernetes and Nomad have the keys of these" \
		engines "$contrib"/kubernetes/*.yaml "$contrib"/nomad/*.hcl
	try "an unknown key of Kubernetes is found" finds kubernetes/pod.yaml s/readinessProbe/readynessProbe/ 'unknown key'
	try "so is one of Nomad" finds nomad/shop.nomad.hcl s/kill_timeout/kill_time_out/ 'unknown key'
	try "a missing key is found" finds nomad/shop.nomad.hcl '/ path /d' 'no path'
	try "a text for a number is found" finds kubernetes/pod.yaml 's/25$/"25"/' 'expected int'
	try "a port that is none is found" finds kubernetes/deployment.yaml 's/port: swansong/port: metrics/' 'metrics:'
	try "a block without an end is found" finds nomad/shop.nomad.hcl '/^}$/d' 'no end'
else
	skip "the files of Kubernetes and Nomad" "package python3-yaml"
fi

# A file that is copied into an image exists, comes from the build, or belongs to the user.
missing() {
	for file in "$contrib"/container/Containerfile*; do
		sed -n 's/^COPY \(--[a-z]*=[^ ]* \)\{0,1\}\(.*\) [^ ]*$/\2/p' "$file" | tr ' ' '\n' |
			while read -r from; do
				case $from in
				rootfs/ | /rootfs | server | app | swansongd | swansongctl | swansong-logger | swansong-sandbox | swansong-exporter | \
				swansong-init*) ;;
				*) [ -e "$contrib/container/$from" ] || echo "$file: no $from" ;;
				esac
			done
	done
	sed -n 's/.*dockerfile: //p' "$contrib/container/compose.yaml" | while read -r file; do
		[ -e "$contrib/container/$file" ] || echo "compose.yaml: no $file"
	done
}
missing >"$dir/missing"
try "what the images are made of is there" is_empty "$dir/missing"

# The bill of materials of a release.
"$contrib/packaging/bill-of-materials" "$top_builddir" 1.0.0 >"$dir/bill" 2>"$dir/refused" || :
try "the bill of materials is JSON" python3 -m json.tool "$dir/bill" "$dir/bill.json"
for program in swansongd swansongctl swansong-init swansong-logger swansong-sandbox; do
	try "it has $program, with its sum" grep -q "$(sha256sum <"$top_builddir/$program" | cut -d ' ' -f 1)" "$dir/bill"
done
for program in swansongd swansongctl swansong-init swansong-logger swansong-sandbox; do
	readelf -dW "$top_builddir/$program"
done | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u >"$dir/needed"
while read -r library; do
	grep -q "\"comment\": \"for .*$library" "$dir/bill.json" || echo "no $library"
done <"$dir/needed" >"$dir/unnamed"
try "libraries are needed" test -s "$dir/needed"
try "and it names each" is_empty "$dir/unnamed"
finish
