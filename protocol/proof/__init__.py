"""What makes a history provable: the digest chain, seals over it, where a record came from."""
