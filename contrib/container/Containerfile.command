# One command, on whatever it needs:
#
#	podman build -f Containerfile.command -t web . && podman run --rm -p 8080:80 web
#
# swansong-init is beside this file; it needs the C library and nothing else.
FROM docker.io/library/debian:stable-slim
RUN apt-get update && apt-get install -y --no-install-recommends nginx-light && \
	rm -rf /var/lib/apt/lists/*
COPY --chmod=755 swansong-init /usr/bin/swansong-init
# nginx finishes its requests at SIGQUIT; whoever stops the container need not know.
ENTRYPOINT ["/usr/bin/swansong-init", "-r", "TERM:QUIT", "--"]
CMD ["nginx", "-g", "daemon off;"]
