"""`python3 FOLDER/kernelsmith_worker SHARED`: evaluates programs with an evaluator that it imports once.

SHARED is the folder of kernelsmith_process. Requests come on standard input and are answered on standard output
(kernelsmith_process/framing.py): {"do": "load"} first, then any number of {"do": "evaluate"}. When the input ends, this
process ends everything that it has started, and itself.
"""

import os
import sys


def main():
    # Python puts the folder that it runs in front of the path; evaluators must not see its modules.
    sys.path[0:1] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))), sys.argv[1]]
    from kernelsmith_process import descendants, framing  # noqa: PLC0415
    from kernelsmith_worker.service import Service  # noqa: PLC0415
    del sys.path[0:2]

    requests, replies = framing.take_streams()
    descendants.take_orphans()
    try:
        framing.serve(requests, replies, Service(requests.fileno(), replies.fileno()).handle)
    finally:
        # Exit at once, because atexit handlers and threads of the evaluator could block.
        os._exit(0)


if __name__ == "__main__":
    main()
