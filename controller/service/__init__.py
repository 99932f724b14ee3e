"""A tech's functions: who may use them, the self-test, calibration, and restoring a journal."""
