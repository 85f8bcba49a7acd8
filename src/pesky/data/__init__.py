"""All that is known at one moment, before any model: what was measured, what is awaited, and what failed."""
