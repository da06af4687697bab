#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The text of a macro's value. */
#define STRINGIFY_(text) #text
#define STRINGIFY(macro) STRINGIFY_(macro)

/* FOR_EACH(macro, with, items...) is macro(with, item) of each item, up to 64. */
#define EXPAND(...)   EXPAND_3(EXPAND_3(EXPAND_3(EXPAND_3(__VA_ARGS__))))
#define EXPAND_3(...) EXPAND_2(EXPAND_2(EXPAND_2(EXPAND_2(__VA_ARGS__))))
#define EXPAND_2(...) EXPAND_1(EXPAND_1(EXPAND_1(EXPAND_1(__VA_ARGS__))))
#define EXPAND_1(...) __VA_ARGS__
#define FOR_NONE
#define FOR_EACH(macro, with, ...) __VA_OPT__(EXPAND(FOR_NEXT(macro, with, __VA_ARGS__)))
#define FOR_NEXT(macro, with, item, ...) \
	macro(with, item) __VA_OPT__(FOR_AGAIN FOR_NONE()(macro, with, __VA_ARGS__))
#define FOR_AGAIN() FOR_NEXT

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define MIN(a, b)                       \
	({                              \
		__typeof__(a) a_ = (a); \
		__typeof__(b) b_ = (b); \
		a_ < b_ ? a_ : b_;      \
	})

#define MAX(a, b)                       \
	({                              \
		__typeof__(a) a_ = (a); \
		__typeof__(b) b_ = (b); \
		a_ > b_ ? a_ : b_;      \
	})

/*
 * Makes room for one more element in @array of @n, which is NULL at first and is only made larger here: to the
 * next power of two.  Return: 0, or -ENOMEM: the array is as before.
 */
#define array_reserve(array, n)                                                             \
	({                                                                                  \
		size_t n_ = (n);                                                            \
		__typeof__(array) larger_ = (array);                                        \
		if ((n_ & (n_ - 1)) == 0)                                                   \
			larger_ = reallocarray(larger_, n_ ? 2 * n_ : 1, sizeof(*larger_)); \
		if (larger_)                                                                \
			(array) = larger_;                                                  \
		larger_ ? 0 : -ENOMEM;                                                      \
	})

/* Adds a value to such an array, and to its number.  Return: likewise. */
#define array_append(array, n, ...)                   \
	({                                            \
		int r_ = array_reserve(array, n);     \
		if (r_ == 0)                          \
			(array)[(n)++] = __VA_ARGS__; \
		r_;                                   \
	})

/* qsort(3) of @array, which may be NULL if @n is 0. */
#define array_sort(array, n, compare) \
	((n) > 0 ? qsort((array), (n), sizeof(*(array)), (compare)) : (void)0)

#define printf_like(fmt, args) __attribute__((format(printf, fmt, args)))
