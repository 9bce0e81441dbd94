"""What a deployment chooses, as data: `society.toml`, price samples; `settings` loads and checks it."""
