"""The report, live: a page of the studies of one storage, served to a browser, for reading or for a bench.

The server (`app`, `guard`, `server`) reads the storage and needs no torch, so that it starts and answers at once. What
takes seconds, pictures and questions, is done in processes beside it (`background`, `work`), by the operations that any
other user of the study has. The page keeps nothing: end it at any moment.
"""
