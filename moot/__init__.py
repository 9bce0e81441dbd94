"""The application: it puts clock, bus, stores, minds and surfaces together into a running society."""
