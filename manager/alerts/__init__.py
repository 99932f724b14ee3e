"""Alarms brought to people who look at no page: by webhook and e-mail, each until it is taken."""
