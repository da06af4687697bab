# Examples, installed with the documentation.
examplesdir           = $(docdir)/examples
dist_examples_DATA    = %D%/swansong.ini %D%/demo.ini
# The services of demo.ini, which is started beside them.
dist_examples_SCRIPTS = %D%/demo-service.sh
EXTRA_DIST           += %D%/demo.sh
