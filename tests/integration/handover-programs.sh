#!/bin/bash
# Programs of others that are handed over under load: each has its own way to take a socket, and to finish its work.
. "${0%/*}/lib.sh"

# The section is that of web; the load is one of short requests, and of some that take longer where the program has them.
hands_over() { # NAME; reads the section
	local name=$1 old load i
	: >"$log"
	{ printf '[web]\nlisten = tcp:127.0.0.1:8080\nhandover = yes\n' && cat; } | config
	start_daemon
	if ! ctl wait --for ready --timeout 20s >"$dir/out" 2>&1; then
		result 1 "$name: is ready"
		stop_daemon
		return
	fi
	"$helpers/slow-server" load 8080 4 500 100 >"$dir/load" &
	load=$!
	for i in 1 2 3; do
		old=$(pid_of web)
		ok "$name: restart $i" ctl restart web --timeout 60s
		is "$name: restart $i has another process" "$([ "$(pid_of web)" != "$old" ] && echo yes)" yes
	done
	kill "$load" && wait "$load"
	like "$name: no request is lost" "$(cat "$dir/load")" '^short=[1-9][0-9]* long=[1-9][0-9]* failed=0 '
	is_alone() { [ "$(ctl status --json | jq '.nodes | length')" = 2 ]; }
	ok "$name: the earlier runs end" wait_for 40 is_alone
	stop_daemon 40
	is "$name: and so does the daemon" "$status" 0
}
has() { # NAME COMMAND PACKAGE
	command -v "$2" >/dev/null && return
	skip "$1" "package $3"
	return 1
}

if has nginx nginx nginx; then
	# It takes the sockets that NGINX names, and compares their addresses with those of its configuration.
	cat >"$dir/nginx.conf" <<-END
		daemon off;
		user root;
		error_log stderr;
		events { }
		http {
			access_log off;
			$(nginx_folders "$dir")
			server {
				listen 127.0.0.1:8080;
				location / { return 200 "\$pid\n"; }
			}
		}
	END
	hands_over nginx <<-END
		command = sh -c 'exec nginx -e stderr -p $dir -c $dir/nginx.conf -g "pid $dir/nginx.\$\$.pid;"'
		environment = NGINX=3;
		settle-time = 300ms
		stop-signal = QUIT
	END
fi

if has gunicorn gunicorn gunicorn; then
	cat >"$dir/app.py" <<-'END'
		import os
		import time


		def app(environ, start_response):
		    time.sleep(int(environ["PATH_INFO"][1:] or 0) / 1000)
		    start_response("200 OK", [("Content-Type", "text/plain")])
		    return [b"%d\n" % os.getpid()]
	END
	# Its workers with threads reset connections in a stop, see audit-tree.sh.
	hands_over gunicorn <<-END
		command = gunicorn --chdir $dir --workers 12 --graceful-timeout 30 --worker-tmp-dir $dir app:app
		settle-time = 1s
		stop-timeout = 35s
	END
fi

if has haproxy haproxy haproxy; then
	cat >"$dir/haproxy.cfg" <<-'END'
		global
		    maxconn 1000
		defaults
		    mode http
		    timeout connect 5s
		    timeout client 5s
		    timeout server 5s
		frontend web
		    bind fd@3
		    http-request return status 200 content-type text/plain lf-string "%pid"
	END
	hands_over haproxy <<-END
		command = haproxy -Ws -f $dir/haproxy.cfg
		ready = notify
		stop-signal = USR1
	END
fi

if has "Node.js" node nodejs; then
	cat >"$dir/web.js" <<-'END'
		const server = require("http").createServer((request, response) =>
			setTimeout(() => response.end(`${process.pid}\n`), Number(request.url.slice(1))));

		server.listen({ fd: 3 });
		process.on("SIGTERM", () => server.close(() => process.exit(0)));
	END
	hands_over "Node.js" <<-END
		command = node $dir/web.js
		settle-time = 300ms
	END
fi

if has redis redis-server redis-server; then
	printf '[redis]\ncommand = redis-server --port 6379\nhandover = yes\n' | config
	"$swansongctl" check "$ini" >"$dir/out" 2>&1
	is "redis: its port is its own" "$?" 78
	like "redis: and check gives the reason" "$(cat "$dir/out")" 'handover: the next run needs the sockets of the present one'
fi
finish
