#ifndef SWANSONG_H
#define SWANSONG_H

/* The whole of libswansong. */

#include <swansong/attach.h>
#include <swansong/completion.h>
#include <swansong/guard.h>
#include <swansong/interrupt-io.h>
#include <swansong/interrupt.h>
#include <swansong/loop.h>
#include <swansong/node.h>
#include <swansong/pool.h>
#include <swansong/registry.h>
#include <swansong/report.h>
#include <swansong/version.h>

#endif
