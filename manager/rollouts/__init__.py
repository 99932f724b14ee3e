"""New programs for units: kept on the manager's disk, and rolled out ring by ring."""
