/* A comment of varlink documents the member that follows it. */
#include "proto/interface/interface-text.h"

#include "base/macro.h"

/* Texts, separated. */
#define JOIN_NEXT(separator, text)  separator text
#define JOIN(separator, first, ...) first FOR_EACH(JOIN_NEXT, separator, ##__VA_ARGS__)

#define TYPE_STRING  "string"
#define TYPE_STRINGS "[]string"
#define TYPE_BOOL    "bool"
#define TYPE_INT     "int"

#define REQUIRED(type, name)	   #name ": " TYPE_##type
#define OPTIONAL(type, name)	   #name ": ?" TYPE_##type
#define REQUIRED_ENUM(name, ...)   #name ": (" JOIN(", ", __VA_ARGS__) ")"
#define OPTIONAL_ENUM(name, ...)   #name ": ?(" JOIN(", ", __VA_ARGS__) ")"
#define REQUIRED_CHOICE(name, ...) REQUIRED_ENUM(name, __VA_ARGS__)
#define OTHER(name, type)	   #name ": " type
#define PART(name, type, ...)	   #name ": ?" type

const char interface_text[] =
	"# The node tree of a Swansong daemon: the services that run, the guards that hold up a\n"
	"# shutdown, and how to end both.\n"
	"#\n"
	"# A node is named by its path, \"web/nginx\"; the path of the root is \"\".  Where a\n"
	"# parameter node is optional, it is the root if it is missing.  A stopped node never\n"
	"# runs again: a service that is started under the same name is the next generation.\n"
	"# All times are in microseconds; since, age, next and deadline are distances from now.\n"
	"# A member without a value is left out.\n"
	"interface io.swansong\n\n"
#define TYPE(type, help, ...) help "type " type " (\n\t" JOIN(",\n\t", __VA_ARGS__) "\n)\n\n"
#define VIEW(view, ...)	      TYPE(__VA_ARGS__)
#include "proto/interface/types.h"
	"# A node is named by its path, or by the last part of that if no other node has it.\n\n"
#define METHOD(id, name, tier, whole, call, update, help, reply, ...) \
	help "method " name "(" JOIN(", ", __VA_ARGS__) ") -> " reply "\n\n"
#include "proto/interface/methods.h"
	"# similar: the nodes that may have been meant.\n"
	"error NoSuchNode(node: string, similar: ?[]string)\n\n"
	"# The node is stopped: nothing is started or guarded on it.\n"
	"error NodeStopped(node: string)\n\n"
	"error NotPermitted(reason: string)\n\n"
	"# forced, losses: as in Stop, for a Restart, or a Wait for ready on a connection that\n"
	"# has asked for a stop or restart before.\n"
	"error Failed(node: string, reason: string, forced: ?bool, losses: ?[]Loss)\n\n"
	"# A limit of this connection, of its user or of the daemon is reached.\n"
	"error TooMany(reason: string)\n";
