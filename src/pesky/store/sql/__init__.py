"""Studies in an SQL database."""
