#pragma once

/* The description of the interface io.swansong, which GetInterfaceDescription returns. */
extern const char interface_text[];
