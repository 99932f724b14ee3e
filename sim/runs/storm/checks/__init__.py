"""The storm's checkers: they stand outside the code under test and do their own arithmetic."""
