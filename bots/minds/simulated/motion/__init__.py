"""The room of motions: seats that debate any question by seed, without understanding a word of it.

Advocate, Critic and Judge keep every rule of the table and repeat the question's own words; what they write is data in
the TOML files beside them. Whose word it is stands beside it wherever it is shown.
"""
