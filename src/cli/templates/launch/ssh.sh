#!/bin/sh
# A worker of the fleet at @URL@ on each of these hosts, where kernelsmith is installed. Run it where ssh
# reaches them. A worker ends in order with: ssh HOST 'kill "$(cat kernelsmith-worker.pid)"'
set -eu
for host in @HOSTS@; do
  ssh "$host" 'nohup kernelsmith worker @ARGUMENTS@ </dev/null >>kernelsmith-worker.log 2>&1 & echo $! >kernelsmith-worker.pid'
  echo "$host: kernelsmith-worker.log"
done
