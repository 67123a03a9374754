#!/usr/bin/env bash
# Ends the cluster that start.sh brought up in STATE_DIR, jobs first, by the process ids that it wrote
# and only where they still are what they were. usage: stop.sh STATE_DIR
set -uo pipefail
state=$(realpath -m "${1:?usage: stop.sh STATE_DIR}")
export PATH=$PATH:/usr/sbin:/sbin SLURM_CONF=$state/slurm.conf
runs() { [ "$(ps -o comm= -p "$1" 2>/dev/null)" = "$2" ] && [ "$(ps -o stat= -p "$1" | cut -c1)" != Z ]; }
end() { # pid-file program
  local pid; pid=$(cat "$1" 2>/dev/null) || return 0
  if [ -n "$pid" ] && runs "$pid" "$2"; then
    kill "$pid"
    for _ in $(seq 100); do runs "$pid" "$2" || break; sleep 0.1; done
    if runs "$pid" "$2"; then kill -9 "$pid"; fi
  fi
  rm -f "$1"
}
if [ -s "$state/pid/slurmctld" ]; then
  # a step that outlives its slurmd would go on with what it started
  timeout 20 scancel --full -u "$(id -un)" 2>/dev/null
  for _ in $(seq 60); do [ -n "$(timeout 20 squeue -h -t R,CG,PD,CF 2>/dev/null)" ] || break; sleep 0.25; done
fi
for file in "$state"/pid/slurmd-*; do if [ -e "$file" ]; then end "$file" slurmd; fi; done
end "$state/pid/slurmctld" slurmctld
end "$state/pid/slurmdbd" slurmdbd
end "$state/pid/mariadbd" mariadbd
end "$state/pid/munged" munged
