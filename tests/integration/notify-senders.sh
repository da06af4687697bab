#!/bin/bash
# Without control groups, what the dead and who executes have said is heard as that of their service.
. "${0%/*}/lib.sh"
hide_cgroups
own=unheard # nothing is left of it that would tell whose it was
. "${0%/*}/senders-lib.sh"
ok "nothing is left" wait_for 10 nobody_else
finish
