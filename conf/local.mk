# Examples, installed with the documentation.
examplesdir        = $(docdir)/examples
dist_examples_DATA = %D%/swansong.ini %D%/demo.ini
EXTRA_DIST        += %D%/demo.sh %D%/demo-service.sh
