"""What runs the functions of users."""
