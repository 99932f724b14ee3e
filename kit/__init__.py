"""Tools that know nothing of tables. Everybody may import them; they import nothing of ours."""
