"""`make perf`: figures of one run, each beside what it should be compared with."""
