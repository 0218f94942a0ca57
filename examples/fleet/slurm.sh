#!/bin/bash
# Eight workers of a fleet as a job array.
#   sbatch --export=ALL,NATS=nats://HOST:4222 examples/fleet/slurm.sh
#SBATCH --job-name=kernelsmith-worker
#SBATCH --array=1-8
#SBATCH --cpus-per-task=4
#SBATCH --gpus-per-task=1
#SBATCH --time=12:00:00
# Before the time is up each worker gets SIGTERM. It finishes its jobs, takes no more, and ends.
#SBATCH --signal=B:TERM@120
exec kernelsmith worker --nats "${NATS:?the URL of the NATS server, nats://HOST:4222}" --name "$(hostname -s)-$SLURM_ARRAY_TASK_ID"
