#!/bin/sh
# In place of all unit tests, which use the library check.
echo "1..0 # SKIP package check"
