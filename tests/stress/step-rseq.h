#pragma once

/* The sequences of src/swansong/count/rseq-private.h in a build with SWANSONG_STEP. */

/*
 * The value that the test chooses.  A sequence is one step, as other threads see its last
 * instruction only.
 */
bool swansong_step_rseq(void);

static inline bool rseq_is_there(void)
{
	return swansong_step_rseq();
}

static inline bool rseq_add(_Atomic uint32_t *closed, struct percpu_slot *slots, uint32_t n,
			    uint64_t delta)
{
	uint32_t cpu = processor_number();
	bool done;

	swansong_step(closed);
	done = cpu < n && !*closed;
	if (done)
		slots[cpu].count += delta;
	swansong_stepped();
	return done;
}

static inline bool rseq_fence(_Atomic uint32_t *closed)
{
	swansong_step(closed);
	swansong_stepped();
	return true;
}
