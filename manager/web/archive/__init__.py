"""Every win there ever was: found by table, meter, day and words, and given out as CSV."""
