"""Many storms: campaigns over fixed and fresh seeds."""
