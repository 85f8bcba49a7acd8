"""From a snapshot of a study to what is inferred from it: the belief of every row, and the values it leaves out."""
