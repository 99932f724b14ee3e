"""What people ask for that changes the books, and what a second person decides."""
