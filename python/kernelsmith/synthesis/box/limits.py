"""Limits of one evaluation of the sandbox. The next evaluation does the rest of the work."""

# After this many seconds no further module is started. That limits the loss if a module stops all processes.
BATCH_S = 300
# Characters of answers. The backend keeps the last MiB of the output, and an answer has at most MOST_ANSWER.
MOST_ANSWERS = 600_000
MOST_ANSWER = 400_000
