"""Where the books are kept: SQLite, PostgreSQL, archived days. Rows are known here, not money."""
