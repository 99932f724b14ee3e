"""The units' page: who is enrolled, who asks to be, and whose certificate ends."""
