#pragma once

/*
 * Templates: sections with a name that ends with '@'.  The keys of a template are stored as text,
 * and then set in every instance that does not have them in its own section.
 */

#include "model/config/dropin.h"
#include "model/keys/section.h"

/*
 * Sets the keys of the templates that are not faulty in the sections of their instances.  A template
 * without instances is a warning.
 *
 * Return: 0 or -ENOMEM.
 */
int templates_apply(const struct dropins *templates, const struct reading *reading);
