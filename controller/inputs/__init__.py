"""What people do at the table: buttons, key, cards, and the cabinet's lid."""
