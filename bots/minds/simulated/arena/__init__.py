"""Simulated seats of the Arena: ``writer`` plans, reviews and finalizes by ``criteria``."""
