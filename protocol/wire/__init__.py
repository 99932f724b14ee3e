"""The bytes between a unit and its manager: CBOR profile, frames, messages, events, settings."""
