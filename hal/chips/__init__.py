"""The drivers, one chip each, written against smbus2's API and nothing wider."""
