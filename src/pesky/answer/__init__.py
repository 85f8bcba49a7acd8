"""What a study answers: the point to use, what is predicted anywhere, and what other limits would change."""
