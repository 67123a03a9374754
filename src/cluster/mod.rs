//! A plan on a Slurm cluster: scripts for job arrays, what the cluster says of them, and taking them back.
//! In: a plan and a results folder. Out: submitted jobs, their states. It carries out no run itself.
