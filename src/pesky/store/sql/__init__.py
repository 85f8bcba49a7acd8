"""Studies in an SQL database, SQLite or PostgreSQL: all of pesky that knows SQL."""
