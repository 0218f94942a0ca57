"""Limits of one evaluation of the sandbox. The next one does the rest."""

# After this many seconds no other module is started, which limits the loss if a module stops all processes.
BATCH_S = 300
# Characters of answers. The backend keeps the last MiB of what is printed, and an answer has MOST_ANSWER at most.
MOST_ANSWERS = 600_000
MOST_ANSWER = 400_000
