#!/bin/bash
# The guard examples of the manual keep their job: each one is run as it is printed, with a shutdown in the
# middle, which goes on until all stop-timeouts are over, and the last line of the job is expected.
. "${0%/*}/lib.sh"
requires_root
requires_package python3 python3
[ "$(python3 -c 'import sys; print(sys.version_info >= (3, 9))')" = True ] ||
	skip_all "package python3 of 3.9 or later"
man=$top_srcdir/man
PATH=$(realpath "$top_builddir"):$PATH
export PYTHONPATH=$top_srcdir/contrib/python PYTHONDONTWRITEBYTECODE=1
mount -t tmpfs tmpfs /usr/local/bin || skip_all "machine: cannot mount on /usr/local/bin"

# The job of all examples: a backup reads a service, which must be up until its end; a shipment is work of one.
mkfifo "$dir/go"
for job in backup ship; do
	cat >/usr/local/bin/$job <<-END
		#!/bin/sh
		echo "\$\$" >$dir/begun
		read -r _ <$dir/go
		if kill -0 "\$(cat $dir/used)" 2>/dev/null; then
			echo "$job: done, its service is up" >$dir/last
		else
			echo "$job: done" >$dir/last
		fi
	END
	chmod 755 /usr/local/bin/$job
done

# The text of a page, without the escapes of roff.
plain() { # PAGE
	sed 's/\\-/-/g; s/\\(dq/"/g; s/\\e/\\/g; s/\\&//g' "$man/$1"
}

# The block of a page that has the line.
block() { # PAGE REGEX
	plain "$1" | awk -v regex="$2" '
		/^\.Bd -literal/ { text = found = ""; next }
		/^\.Ed/ && found { printf "%s", text; exit }
		{ text = text $0 "\n" }
		$0 ~ regex { found = 1 }'
}

# The tree of the examples, with a service that uses up its stop-timeout.
tree() { # [LINE...]: another section
	{
		service data/redis 'stop-timeout = 200ms'
		service main 'stop-timeout = 200ms'
		service web/nginx 'stop-timeout = 200ms'
		printf '[hung]\ncommand = %s/stubborn %s/hung\nstop-timeout = 600ms\n' "$helpers" "$dir"
		printf '%s\n' "$@"
	} | config
	: >"$log"
	rm -f "$dir/begun" "$dir/last" "$dir/hung"
	start_daemon
	wait_for 10 test -s "$dir/hung" || die "the tree runs"
	ctl wait data --for ready --timeout 10s >/dev/null
	pid_of "${used:-data/redis}" >"$dir/used"
}

# The tree, with a service that runs an example.
job() { # LINE...
	tree '[job]' 'type = oneshot' 'requires = data/redis' 'stop-timeout = 200ms' "$@"
}

# Shuts the tree down in the middle of the job, and lets that go on after the stop-timeouts.
shut_down_in_the_middle() { # NAME LAST-LINE
	ok "$1: the job has begun" wait_for 20 test -s "$dir/begun"
	ctl shutdown --no-wait >"$dir/shutdown" 2>&1
	ok "$1: the stop-timeouts are over" wait_for 10 says "$log" 'hung: killing'
	timeout 10 sh -c "echo >'$dir/go'"
	await_daemon 20
	is "$1: the job is not cut" "$(cat "$dir/last")" "$2"
	ok "$1: no guard is revoked" not grep -q revok "$log"
}

# An example outside of the tree: its output is in $dir/output, and it ends with 0.
client() { # NAME LAST-LINE COMMAND...
	local name=$1 last=$2 pid
	shift 2
	(cd "$dir" && exec "$@") >"$dir/output" 2>&1 </dev/null &
	pid=$!
	cleanup_fn end_process "$pid"
	shut_down_in_the_middle "$name" "$last"
	wait "$pid"
	is "$name: its exit status" "$? $(cat "$dir/output")" "0 "
}

# --- Command lines ---------------------------------------------------------------------------------

# In a block, the other commands start a tree; the one of README.md is in its text.
# shellcheck disable=SC2016  # the $ of a prompt
command_lines() { # PAGE
	plain "$1" | sed -n 's/^\.Dl \$ \(swansongctl.* guard .*\)/\1/p
		s/^\$ \(swansongctl.* guard .*\)/\1/p; s/^`\(swansongctl guard .*\)`\.$/\1/p'
}

for page in "$man"/*.[1578]* "$top_srcdir/README.md"; do
	while IFS= read -r line; do
		used=${line#*guard } used=${used#--using } used=${used%% *}
		[[ $used != data/store ]] || used=data/redis line=${line/data\/store/$used} # in README.md
		[[ $line != *" backup" ]] || line=${line/% backup/ \/usr\/local\/bin\/backup}
		name="${page##*/}: $line"
		case $line in
		*backup) last="backup: done, its service is up" ;;
		*ship) last="ship: done" ;;
		*) continue ;; # the tour, which tests/integration/readme.sh runs with its shutdown
		esac
		tree
		client "$name" "$last" bash -c "${line/-s \/run\/redis.sock /}"
	done < <(command_lines "../${page#"$top_srcdir"/}")
done
unset used

# --- Programs ----------------------------------------------------------------------------------------

block swansong-guard.7 '^swansong_guard ' |
	sed "s|/usr/share/swansong|$top_srcdir/contrib/guard|" >"$dir/script"
for shell in dash bash; do
	command -v $shell >/dev/null || continue
	job "command = $shell $dir/script" 'control = yes'
	shut_down_in_the_middle "swansong-guard(7): $shell" "backup: done, its service is up"
done

# The functions and variables that an example expects of its reader.
python() { # REGEX
	printf '%s\n' 'def backup():' '    import subprocess' \
		'    subprocess.run(["/usr/local/bin/backup"], check=True)' \
		'def work(job):' '    backup()' 'jobs = ["one", "two"]'
	block swansong-guard.7 "$1"
}
python 'using=True' >"$dir/using.py"
tree
client "swansong-guard(7): using=True" "backup: done, its service is up" python3 "$dir/using.py"
python 'guard[(]"nightly backup"[)]' >"$dir/lease.py"
for control in yes no; do
	job "command = python3 $dir/lease.py" "control = $control" 'signal-scope = main'
	shut_down_in_the_middle "swansong-guard(7): a lease of a service, control = $control" \
		"backup: done, its service is up"
done
python 'root.interrupt' >"$dir/attach.py"
job "command = python3 $dir/attach.py" 'attach = yes' 'signal-scope = main'
shut_down_in_the_middle "swansong-guard(7): attach" "backup: done, its service is up"
is "swansong-guard(7): the second job does not begin" "$(grep -c . "$dir/begun")" 1

# The message and its answer are printed, each with a NUL after it.
block swansong-guard.7 '"using": true' >"$dir/messages"
cat >"$dir/message.py" <<'END'
import json, os, socket, subprocess, sys
text, answer = open("messages").read().rsplit("\n{", 1)
connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["SWANSONG_SOCKET"])
connection.sendall(text.encode() + b"\0")
assert json.loads(connection.recv(4096)[:-1])["parameters"].keys() == json.loads("{" + answer)["parameters"].keys()
subprocess.run(["/usr/local/bin/backup"], check=True)
END
tree
client "swansong-guard(7): JSON" "backup: done, its service is up" python3 "$dir/message.py"
finish
