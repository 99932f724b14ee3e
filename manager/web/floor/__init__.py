"""The floor on pages: each table, each meter, and how a meter came to where it stands."""
