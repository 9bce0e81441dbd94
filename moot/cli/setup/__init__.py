"""Commands that set Moot up, and say what is missing: `ailments` is what `doctor` checks."""
