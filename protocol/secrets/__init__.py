"""What is proven without being told: TLS identities, swiped cards, a tech's PIN."""
