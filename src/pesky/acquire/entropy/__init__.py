"""Other rules that count in information."""
