"""What the mathematics runs on: random streams, batched optimization, clocks and threads."""
