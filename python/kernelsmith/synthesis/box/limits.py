"""What one evaluation of the sandbox may take. The next one does what is left."""

# After so many seconds no other module is begun: one that stops all processes costs this and its own time, not more.
BATCH_S = 300
# Characters of answers. The backend keeps the last MiB of what is printed, and an answer has MOST_ANSWER at most.
MOST_ANSWERS = 600_000
MOST_ANSWER = 400_000
