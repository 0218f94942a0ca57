#!/bin/bash
# @WORKERS@ workers of the fleet at @URL@, each a task of a job array. Give it to sbatch.
#SBATCH --job-name=kernelsmith-worker
#SBATCH --array=1-@WORKERS@
#SBATCH --cpus-per-task=4
@GPU@
# Before the time is up a worker gets SIGTERM: it finishes what it runs, takes no more and ends.
#SBATCH --time=12:00:00
#SBATCH --signal=B:TERM@120
exec kernelsmith worker @ARGUMENTS@ --name "$(hostname -s)-$SLURM_ARRAY_TASK_ID"
