#!/usr/bin/env bash
# A Slurm cluster on loopback for the tests: every node is a slurmd of this machine, its GPUs are null
# devices. usage: start.sh STATE_DIR; afterwards `. STATE_DIR/env`. Stop it with stop.sh STATE_DIR.
# NODES, GPUS (per node), CPUS (per node) size it; ACCOUNTING=1 adds slurmdbd and a private MariaDB, so
# that sacct works; PROCTRACK=cgroup kills what a job leaves behind, where the machine has cgroups; UNTIL_PID
# names a process at whose end the cluster is stopped.
# Needs root, slurm-wlm, munge, python3, and for accounting slurmdbd and mariadb-server.
set -euo pipefail
state=$(realpath -m "${1:?usage: start.sh STATE_DIR}")
nodes=${NODES:-4} gpus=${GPUS:-4} cpus=${CPUS:-8} accounting=${ACCOUNTING:-0}
here=$(dirname "$(realpath "$0")")
host=$(hostname -s)
export PATH=$PATH:/usr/sbin:/sbin SLURM_CONF=$state/slurm.conf
fail() { echo "start.sh: $*" >&2; tail -n 5 "$state"/log/*.log >&2 || true; "$here/stop.sh" "$state" || true; exit 1; }
trap 'fail "line $LINENO"' ERR

mkdir -p "$state"/{log,pid,control,dev,munge}
chmod 700 "$state/munge"
mapfile -t port < <(python3 - $((nodes + 3)) <<'PY'
import socket, sys
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*[s.getsockname()[1] for s in held], sep="\n")
PY
)
until_true() { # seconds command…
  local end=$((SECONDS + $1)); shift
  until "$@" >/dev/null 2>&1; do [ "$SECONDS" -lt "$end" ] || return 1; sleep 0.2; done
}

# who is who: a key and a socket of this cluster's own
socket=$state/munge.socket
head -c 256 /dev/urandom >"$state/munge/key"
chmod 400 "$state/munge/key"
munged --force --key-file="$state/munge/key" --socket="$socket" --pid-file="$state/pid/munged" \
  --log-file="$state/munge/munged.log" --seed-file="$state/munge/seed" 2>"$state/log/munged.log"

{
  printf '%s\n' ClusterName=test "SlurmctldHost=$host(127.0.0.1)" SlurmUser=root SlurmdUser=root \
    AuthType=auth/munge CredType=cred/munge "AuthInfo=socket=$socket" \
    "SlurmctldPort=${port[0]}" "SlurmctldPidFile=$state/pid/slurmctld" "SlurmctldLogFile=$state/log/slurmctld.log" \
    "SlurmdPidFile=$state/pid/slurmd-%n" "SlurmdLogFile=$state/log/slurmd-%n.log" "SlurmdSpoolDir=$state/spool-%n" \
    "StateSaveLocation=$state/control" "ProctrackType=proctrack/${PROCTRACK:-linuxproc}" TaskPlugin=task/none \
    MpiDefault=none SwitchType=switch/none SelectType=select/cons_tres SelectTypeParameters=CR_Core \
    SchedulerType=sched/backfill SchedulerParameters=bf_interval=2,sched_min_interval=200000 \
    GresTypes=gpu SlurmdParameters=config_overrides CommunicationParameters=NoInAddrAny,NoCtldInAddrAny \
    ReturnToService=2 MessageTimeout=60 SlurmdTimeout=300 KillWait=5 CompleteWait=0 "MinJobAge=${MIN_JOB_AGE:-3600}"
  if [ "$accounting" = 1 ]; then
    printf '%s\n' AccountingStorageType=accounting_storage/slurmdbd AccountingStorageHost=127.0.0.1 \
      "AccountingStoragePort=${port[1]}" "AccountingStoragePass=$socket" AccountingStorageTRES=gres/gpu \
      JobAcctGatherType=jobacct_gather/linux
  fi
  for ((n = 1; n <= nodes; n++)); do
    echo "NodeName=n$n NodeHostname=$host NodeAddr=127.0.0.1 Port=${port[$((n + 2))]} CPUs=$cpus RealMemory=4000 Gres=gpu:$gpus"
  done
  echo "PartitionName=bench Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP"
} >"$SLURM_CONF"
echo CgroupAutomount=no >"$state/cgroup.conf"
for ((n = 1; n <= nodes; n++)); do
  for ((g = 0; g < gpus; g++)); do
    [ -e "$state/dev/n$n-gpu$g" ] || mknod "$state/dev/n$n-gpu$g" c 1 3 # reads nothing, swallows everything
  done
  echo "NodeName=n$n Name=gpu File=$state/dev/n$n-gpu[0-$((gpus - 1))]"
done >"$state/gres.conf"

if [ "$accounting" = 1 ]; then
  sql=$state/sql.socket
  [ -d "$state/sql/mysql" ] || mariadb-install-db --no-defaults --user=root --datadir="$state/sql" >"$state/log/sql-install.log" 2>&1
  setsid mariadbd --no-defaults --user=root --datadir="$state/sql" --socket="$sql" --pid-file="$state/pid/mariadbd" \
    --bind-address=127.0.0.1 --port="${port[2]}" --skip-grant-tables --skip-networking=0 --skip-name-resolve \
    --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 --innodb-flush-log-at-trx-commit=0 \
    </dev/null >"$state/log/mariadbd.log" 2>&1 &
  until_true 90 mariadb-admin --no-defaults --socket="$sql" ping
  printf '%s\n' AuthType=auth/munge "AuthInfo=socket=$socket" DbdHost=localhost DbdAddr=127.0.0.1 "DbdPort=${port[1]}" \
    SlurmUser=root "PidFile=$state/pid/slurmdbd" "LogFile=$state/log/slurmdbd.log" \
    StorageType=accounting_storage/mysql StorageHost=127.0.0.1 "StoragePort=${port[2]}" StorageUser=root StoragePass=none \
    StorageLoc=accounting >"$state/slurmdbd.conf"
  chmod 600 "$state/slurmdbd.conf"
  slurmdbd
  until_true 90 sacctmgr -n show cluster
  sacctmgr -i add cluster test >/dev/null 2>&1 || true # it may be there already
fi

slurmctld -f "$SLURM_CONF"
for ((n = 1; n <= nodes; n++)); do slurmd -f "$SLURM_CONF" -N "n$n"; done
all_idle() { [ "$(timeout 20 sinfo -h -N -o '%t' | grep -c '^idle$')" = "$nodes" ]; }
until_true 120 all_idle
echo "export SLURM_CONF=$SLURM_CONF" >"$state/env"
if [ -n "${UNTIL_PID:-}" ]; then # whoever wanted the cluster may be killed before stopping it
  setsid bash -c 'while kill -0 "$0" 2>/dev/null; do sleep 1; done; "$1" "$2"' "$UNTIL_PID" "$here/stop.sh" "$state" \
    </dev/null >/dev/null 2>&1 &
fi
echo "$nodes nodes of $gpus GPUs are up; . $state/env"
