#!/bin/bash
# The logs of nginx at full load, rotated twenty times by us and by logrotate: no request is missing.
. "${0%/*}/lib.sh"
requires_package nginx nginx-light
requires_package python3 python3
chmod 711 "$dir"

# Numbered requests, by some connections at once, until there are enough rotated files.
cat >"$dir/load.py" <<'END'
import http.client, sys, threading
port, first, count, enough = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
import os
def ask(step):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    number = first + step
    while number < first + count and not os.path.exists(enough):
        connection.request("GET", "/%d" % number)
        response = connection.getresponse()
        response.read()
        asked.append(number)
        number += 4
asked = []
threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
open(enough + ".asked", "w").write("".join("%d\n" % n for n in sorted(asked)))
END
cat >"$dir/nginx.conf" <<END
daemon off;
worker_processes 2;
error_log stderr warn;
user root;
pid $dir/nginx.pid;
events { worker_connections 64; }
http {
	log_format number '\$request_uri';
	access_log /dev/stdout number;
	$(nginx_folders "$dir")
	keepalive_requests 1000000;
	server { listen 127.0.0.1:8080; location / { return 204; } }
}
END
logs() { find "$dir/logs" -name 'access*' -print0 | xargs -0 cat; }
load() { # FIRST
	rm -f "$dir/enough" "$dir/enough.asked"
	python3 "$dir/load.py" 8080 "$1" 10000000 "$dir/enough" &
	loading=$!
}
end_load() {
	touch "$dir/enough"
	wait "$loading"
}
all_are_there() { # each request that was answered has its line, and once
	cmp <(logs | sed -n 's,^/,,p' | sort -n) <(sort -n "$dir"/asked.*) >"$dir/compared" 2>&1
}

config <<END
[nginx]
command = nginx -e stderr -p $dir -c $dir/nginx.conf
ready = tcp:127.0.0.1:8080
stdout = file:$dir/logs/access
stderr = file:$dir/logs/error
log-size = 4K
log-keep = 9999
END
start_daemon
wait_for 20 has_state nginx up || die "nginx is up"
load 1
has_rotated() { [ "$(find "$dir/logs" -name 'access.*' | wc -l)" -ge 20 ]; }
ok "the log is rotated twenty times under load" wait_for 240 has_rotated
end_load
mv "$dir/enough.asked" "$dir/asked.1"
ok "no request is missing, none is there twice" wait_for 60 all_are_there
is "no file is too large" "$(find "$dir/logs" -size +4k)" ""

# --- logrotate, as its manual has it ---

if ! command -v logrotate >/dev/null; then
	skip "logrotate rotates" "package logrotate"
else
	sed -i 's/^log-size = .*/log-size = infinity/' "$ini"
	ctl reload >/dev/null 2>&1
	cat >"$dir/logrotate.conf" <<-END
	$dir/logs/access {
		size 1
		rotate 100
		missingok
		postrotate
			kill -USR2 $daemon
		endscript
	}
	END
	load 20000001
	grows() { [ -s "$dir/logs/access" ]; }
	rotated=0
	for _ in {1..20}; do
		wait_for 60 grows || break
		logrotate -s "$dir/logrotate.state" "$dir/logrotate.conf" || break
		rotated=$((rotated + 1))
	done
	is "logrotate rotates it twenty times under load" "$rotated" 20
	end_load
	mv "$dir/enough.asked" "$dir/asked.2"
	ok "no request is missing, none is there twice" wait_for 60 all_are_there
fi
stop_daemon 20
is "the end is graceful" "$status" 0
finish
