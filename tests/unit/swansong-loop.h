#pragma once

/* What tests of the loop begin with: a loop that is idle, and what to post to it. */

#include <pthread.h>
#include <semaphore.h>

#include "main.h"
#include "swansong/loop-private.h"
#include "swansong/swansong.h"

static struct swansong *parent;
static struct swansong_loop *loop;

static void make_loop(void)
{
	ck_assert_int_eq(swansong_new(&parent), 0);
	ck_assert_int_eq(swansong_loop_new(parent, &loop), 0);
}

static void drop_loop(void)
{
	loop = swansong_loop_unref(loop);
	ck_assert_ptr_null(loop);
	parent = swansong_unref(parent);
}

static inline void start(void)
{
	ck_assert_int_eq(swansong_loop_start(loop), 0);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_RUNNING);
}

static inline void count_call(void *arg)
{
	(*(unsigned int *)arg)++; /* on one thread only */
}

/* A function that keeps the loop busy until it is told to return. */
static sem_t entered, leave;

static inline void occupy(void *arg)
{
	(void)arg;
	sem_post(&entered);
	sem_wait(&leave);
}

static inline void occupy_loop(void)
{
	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	ck_assert_int_eq(swansong_loop_post(loop, occupy, NULL), 0);
	sem_wait(&entered);
}

static pthread_t stopper __attribute__((unused));

static inline void *stop_loop(void *arg)
{
	ck_assert_int_eq(swansong_loop_stop(arg), 0);
	ck_assert_int_eq(swansong_loop_state(arg), SWANSONG_LOOP_STOPPED);
	return NULL;
}
