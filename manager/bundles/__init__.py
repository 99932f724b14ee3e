"""Bundles that people at the manager asked units for: what is under way, and what is kept."""
