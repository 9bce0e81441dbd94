"""A society that several hosts could lead: one leads, the others follow hot and take over; its log is on NATS."""
