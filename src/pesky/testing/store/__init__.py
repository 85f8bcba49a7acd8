"""The contract of a store as tests."""
