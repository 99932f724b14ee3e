"""The felt of this table: its sensing ICs watched, its references kept, its late changes told."""
