# A unit test links its own layer and what is below it, nothing else.
include tests/unit/fixtures/local.mk
include tests/unit/ctl/local.mk
include tests/unit/base/local.mk
include tests/unit/swansong/local.mk
include tests/unit/sys/local.mk
include tests/unit/model/local.mk
include tests/unit/proto/local.mk
include tests/unit/logger/local.mk
include tests/unit/sandbox/local.mk
include tests/unit/daemon/local.mk
include tests/unit/exporter/local.mk

EXTRA_DIST += %D%/without-check.sh
if !HAVE_CHECK
TESTS += %D%/without-check.sh
endif
