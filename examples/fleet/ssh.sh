#!/bin/sh
# Starts a worker of a fleet on each host. kernelsmith must be installed there.
#   NATS=nats://SERVER:4222 examples/fleet/ssh.sh HOST...
# To end a worker: ssh HOST 'kill "$(cat kernelsmith-worker.pid)"'. It finishes its jobs first.
set -eu
nats=${NATS:?the URL of the NATS server, nats://HOST:4222}
for host in "$@"; do
  ssh "$host" "nohup kernelsmith worker --nats '$nats' </dev/null >>kernelsmith-worker.log 2>&1 & echo \$! >kernelsmith-worker.pid"
  echo "$host: kernelsmith-worker.log"
done
