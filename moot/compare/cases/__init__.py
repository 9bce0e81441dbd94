"""Cases of studies: generators with a seed, and files of one's own."""
