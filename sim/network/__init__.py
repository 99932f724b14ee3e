"""The network between tables and manager, in memory and in virtual time."""
