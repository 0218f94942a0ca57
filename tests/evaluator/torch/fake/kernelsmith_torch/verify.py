"""Plain PyTorch on a machine without a GPU."""

import json

print("whatever the candidate prints")
print(json.dumps({"failed": "PyTorch 2.11.0 sees no GPU to run the candidate on", "code": "no_gpu"}))
