"""Examples, a folder each: the comment at the top of its study file or program says what it shows and how to run it."""
