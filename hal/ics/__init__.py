"""The drivers, one IC each, written against smbus2's API and nothing wider."""
