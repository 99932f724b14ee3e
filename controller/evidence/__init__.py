"""What a tech looks at later: each round's raw readings, and each spot's health over days."""
