if HAVE_CHECK
check_PROGRAMS += %D%/base/test-diag
%C%_base_test_diag_SOURCES = %D%/base/test-diag.c
%C%_base_test_diag_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_base_test_diag_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/file/test-reader
%C%_file_test_reader_SOURCES = %D%/file/test-reader.c
%C%_file_test_reader_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_file_test_reader_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/types/test-calendar
%C%_types_test_calendar_SOURCES = %D%/types/test-calendar.c
%C%_types_test_calendar_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_types_test_calendar_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/config/test-graph
%C%_config_test_graph_SOURCES = %D%/config/test-graph.c
%C%_config_test_graph_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_config_test_graph_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/forecast/test-forecast
%C%_forecast_test_forecast_SOURCES = tests/unit/fixtures/config-of.h tests/unit/fixtures/config-of.c %D%/forecast/test-forecast.c \
	$(nomem_sources)
%C%_forecast_test_forecast_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_forecast_test_forecast_LDFLAGS = $(nomem_ldflags)
%C%_forecast_test_forecast_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/config/test-template
%C%_config_test_template_SOURCES = %D%/config/test-template.c
%C%_config_test_template_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_config_test_template_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la \
	$(CHECK_LIBS)

check_PROGRAMS += %D%/config/test-config
%C%_config_test_config_SOURCES = tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c %D%/config/test-config.h %D%/config/test-config-fixture.c \
	%D%/config/test-config.c %D%/config/test-config-values.c %D%/config/test-config-attributes.c \
	%D%/config/test-config-bad.c %D%/config/test-config-command.c %D%/config/test-config-equal.c \
	%D%/config/test-config-dropin.c %D%/config/test-config-trouble.c $(nomem_sources)
%C%_config_test_config_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_config_test_config_LDFLAGS = $(nomem_ldflags)
%C%_config_test_config_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/keys/test-diff
%C%_keys_test_diff_SOURCES = tests/unit/fixtures/config-of.h tests/unit/fixtures/config-of.c %D%/keys/test-diff.c
%C%_keys_test_diff_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_keys_test_diff_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/config/test-environment
%C%_config_test_environment_SOURCES = tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c %D%/config/test-environment.c
%C%_config_test_environment_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_config_test_environment_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/life/test-budget
%C%_life_test_budget_SOURCES = %D%/life/test-budget.c
%C%_life_test_budget_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_life_test_budget_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/life/test-fsm
%C%_life_test_fsm_SOURCES = %D%/life/test-fsm.c
%C%_life_test_fsm_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_life_test_fsm_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/life/test-goal
%C%_life_test_goal_SOURCES = %D%/life/test-goal.c
%C%_life_test_goal_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_life_test_goal_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/life/test-policy
%C%_life_test_policy_SOURCES = %D%/life/test-policy.c
%C%_life_test_policy_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_life_test_policy_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/life/test-result
%C%_life_test_result_SOURCES = %D%/life/test-result.c
%C%_life_test_result_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_life_test_result_LDADD   = tests/unit/fixtures/libtestmain.la src/model/libmodel.la src/base/libbase.la
endif
