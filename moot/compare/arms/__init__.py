"""Ways of answering a case, each a class of a page."""
