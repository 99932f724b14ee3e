"""What a win is worth and on whose authority: settling, posting, paying."""
