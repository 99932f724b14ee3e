"""What a win is worth and on whose authority: pricing, settling, posting, paying."""
