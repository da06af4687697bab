#!/bin/sh
# Makes configure; needs autoconf, automake, libtool and pkgconf.
cd "$(dirname "$0")" && exec autoreconf -fi
