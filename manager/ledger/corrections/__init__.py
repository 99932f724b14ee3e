"""What people put right: reversals, wins recorded instead, adjustments, changed terms."""
