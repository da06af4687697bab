#ifndef SWANSONG_VERSION_H
#define SWANSONG_VERSION_H

/* The version of the headers that a program is compiled with. */

#include <swansong/declare.h>

#define SWANSONG_VERSION_MAJOR 0
#define SWANSONG_VERSION_MINOR 1
#define SWANSONG_VERSION_MICRO 0

/* The same as text. */
#define SWANSONG_VERSION "0.1.0"

/* True if the headers are of this version or of a later one; also for #if. */
#define SWANSONG_VERSION_CHECK(major, minor, micro) \
	(SWANSONG_VERSION_MAJOR > (major) ||        \
	 (SWANSONG_VERSION_MAJOR == (major) &&      \
	  (SWANSONG_VERSION_MINOR > (minor) ||      \
	   (SWANSONG_VERSION_MINOR == (minor) && SWANSONG_VERSION_MICRO >= (micro)))))

#endif
