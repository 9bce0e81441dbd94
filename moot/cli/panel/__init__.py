"""`moot panel`: `judges` judges a panel or a contract, `run` holds a whole one, `input` reads what both are given."""
