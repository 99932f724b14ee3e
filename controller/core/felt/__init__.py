"""Tells what lies on each spot of the felt: a chip, nothing, or something not to be believed."""
