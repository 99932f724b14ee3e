"""Who may speak: the floor CA, the units' certificates and signing keys, enrolment, the door."""
