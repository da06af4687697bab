#pragma once

/*
 * A doubly linked list through its members.  The head is a struct list of its own; an element that
 * is on no list points at itself, so that list_remove() may be called at any time.
 */

#include <stdbool.h>

#include "base/macro.h"

struct list {
	struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_is_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_append(struct list *head, struct list *element)
{
	element->prev = head->prev;
	element->next = head;
	head->prev->next = element;
	head->prev = element;
}

static inline void list_remove(struct list *element)
{
	element->prev->next = element->next;
	element->next->prev = element->prev;
	list_init(element);
}

/* Appends all elements of the list @from to the list @to. */
static inline void list_move(struct list *to, struct list *from)
{
	if (list_is_empty(from))
		return;
	from->next->prev = to->prev;
	from->prev->next = to;
	to->prev->next = from->next;
	to->prev = from->prev;
	list_init(from);
}

/* Takes the first element off the list; NULL if it is empty. */
static inline struct list *list_take(struct list *head)
{
	struct list *first = head->next;

	list_remove(first);
	return first == head ? NULL : first;
}

#define list_entry(ptr, type, member) container_of(ptr, type, member)

#define list_for_each(var, head, member)                                                       \
	for (var = list_entry((head)->next, __typeof__(*var), member); &var->member != (head); \
	     var = list_entry(var->member.next, __typeof__(*var), member))

/* The current element may be removed, and no other. */
#define list_for_each_safe(var, tmp, head, member)                        \
	for (var = list_entry((head)->next, __typeof__(*var), member),    \
	    tmp = list_entry(var->member.next, __typeof__(*var), member); \
	     &var->member != (head);                                      \
	     var = tmp, tmp = list_entry(tmp->member.next, __typeof__(*var), member))

/* Each element is taken off the list before it is visited; elements may be added. */
#define list_for_each_taken(var, head, member) \
	for (struct list * taken_;             \
	     (taken_ = list_take(head)) && (var = list_entry(taken_, __typeof__(*var), member));)
