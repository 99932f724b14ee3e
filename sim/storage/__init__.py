"""A disk that behaves like one when the power goes."""
