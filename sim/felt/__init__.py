"""The felt above the electrodes: what each pad measures, and what lies on it."""
