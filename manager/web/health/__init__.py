"""How every spot of every table fares, as its unit last said."""
