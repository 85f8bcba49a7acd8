"""The far end of a `Background`, for tests: it says what it got, or dies of it."""

import json
import os
import sys

first = json.loads(sys.stdin.readline())
for line in sys.stdin:
    request = json.loads(line)
    if request["what"] == "die":
        os._exit(3)
    if request["what"] == "complain":
        print(json.dumps({"error": "no"}), flush=True)
    else:
        print(json.dumps({"answer": {**request, "given": first["given"], "process": os.getpid()}}), flush=True)
