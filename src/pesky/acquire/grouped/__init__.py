"""Joint samples of all rows, grouped by where each has its minimum: what RS, RSDG and PESC's default compute with."""
