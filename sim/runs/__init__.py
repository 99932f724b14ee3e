"""What the simulator is run for: scenarios, storms, evenings, sensing, figures, the bench."""
