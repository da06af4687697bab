#pragma once

/*
 * The part of the replaced functions of src/sys, sd-event and the C library (system-*.c, event.c)
 * that the rest of the simulation uses.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The path of the configuration, and its present text. */
#define SYSTEM_CONFIG "/sim.ini"
extern const char *system_config;

/*
 * Begins the world of a daemon that executes itself again after a fault, or of one that does not.  system_die()
 * is the fault: what remains is what the next image has.
 */
void system_begin(bool dies);
void system_die(void);

/* Lets allocations of jansson fail as well. */
void system_memory_init(void);

/* Reads a change of a control group, as read(2). */
ssize_t system_read_watch(void *buf, size_t size);

/* Sets the clock of the day by so much. */
void system_set_clock(int64_t change_usec);

/* Reads the timer of the clock, as read(2). */
ssize_t system_read_clock(void);

/* Sends @text to the socket of messages at @address, if it is open. */
void system_send_message(const char *address, const char *text, pid_t sender);

/*
 * The functions of the simulation that the loop of the daemon calls.  @on_turn runs before each event:
 * the turn for the last one is over.  @next_usec is the time of the next thing that happens by itself,
 * and @on_time lets it happen; @on_rest is called when nothing ever happens any more.
 */
struct system_driver {
	void (*on_turn)(void);
	uint64_t (*next_usec)(void);
	void (*on_time)(void);
	void (*on_rest)(void);
};
extern const struct system_driver *system_driver;
