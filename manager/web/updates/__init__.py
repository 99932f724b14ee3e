"""Updates of units at the manager: brought, rolled out ring by ring, watched, halted."""
