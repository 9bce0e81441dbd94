"""Motions without a society around them."""
