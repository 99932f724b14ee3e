"""What accounting reads: gaming days, and what each bank account must hold."""
