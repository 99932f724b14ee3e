"""Bundles of units: asked for, waited for, opened and downloaded at the manager."""
