#ifndef SWANSONG_DECLARE_H
#define SWANSONG_DECLARE_H

/* The macros around the declarations of every public header: C linkage, and visible to users. */

#ifdef __cplusplus
#define SWANSONG_BEGIN_DECLARATIONS                        \
	_Pragma("GCC visibility push(default)") extern "C" \
	{
#define SWANSONG_END_DECLARATIONS \
	}                         \
	_Pragma("GCC visibility pop")
#else
#define SWANSONG_BEGIN_DECLARATIONS _Pragma("GCC visibility push(default)")
#define SWANSONG_END_DECLARATIONS   _Pragma("GCC visibility pop")
#endif

/* The handle that all headers share: a node (swansong/node.h). */
struct swansong;

#endif
