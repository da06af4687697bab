"""Configurations of other supervisors, as ones of swansongd: a reader for each of them, one writer."""
