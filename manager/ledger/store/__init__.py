"""Where entries are kept: appended, chained, and never edited."""
