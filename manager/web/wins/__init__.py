"""One win: its page, its slips to print and as PDF, its stamps, and how it came to be."""
