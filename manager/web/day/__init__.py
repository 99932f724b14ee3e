"""A gaming day for accounting: the same sections as a page, as CSV and as PDF."""
