"""One table's hardware: what its file says, what must agree in it, and the parts opened."""
