"""What is particular to a seat: the shell around its mind, its tools, its session."""
