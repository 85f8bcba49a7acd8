"""What other tools need to be used as executors, each imported on use alone.

Dask needs nothing: `client.get_executor(pure=False)` is an executor as it is. Without `pure=False`, equal calls are
merged into one, and repeated noisy measurements are all the same. When a worker dies, its calls are run again on
another one, until a call has seen `distributed.scheduler.allowed-failures` (3) further workers die: then its future
raises `KilledWorker`.
"""
