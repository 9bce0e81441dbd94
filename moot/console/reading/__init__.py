"""What the console reads of the log: its side file, stretches of the log, and what folding tells of cases."""
