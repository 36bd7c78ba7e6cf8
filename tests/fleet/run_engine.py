#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_engine.py PROGRAM parallel|snakemake|dask|slurm [--kill-node]: work in tasks, run by a scheduler.

The files of examples/fleet run two plans, of a quantization and of an evaluation; the first attempt at one of
their tasks is killed. Bytes and numbers must be those of one run. With dask the Python module makes the files once more,
where it can be imported. For slurm the servers are started here: three
nodes on this machine, one of which is killed with a task in the middle of its work where --kill-node says so.
Skips (77) where the scheduler is not installed (Debian: parallel, snakemake, python3-distributed, slurmctld,
slurmd, slurm-client, munge).
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "fleet"
NEEDED = {"parallel": ["parallel"], "snakemake": ["snakemake"], "dask": [],
          "slurm": ["slurmctld", "slurmd", "sbatch", "squeue", "munged", "mungekey"]}
SECONDS = 240  # that all jobs may take
TYPES = ("Q8_0", "Q4_0", "Q5_1", "Q4_1")

# The first attempt at task 2 is killed while it works. With a node to kill, a task on it does not end instead.
WRAPPER = """#!/bin/sh
case " $* " in
*" --task "*)
  if [ -n "$KILL_NODE" ] && [ "$SLURMD_NODENAME" = "$KILL_NODE" ]; then
    touch "{place}/begun"
    sleep 600
  fi
  case " $* " in *" --task 2 "*)
    if [ -z "$KILL_NODE" ] && mkdir "{place}/$2.killed" 2>/dev/null; then
      timeout -s KILL 0.02 "{program}" "$@"
      exit 1
    fi
  esac
esac
exec "{program}" "$@"
"""


def skip(reason):
    print(reason)
    sys.exit(77)


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def make_inputs():
    run("ingot", "sample", "m-F16.gguf", "--layers", "1", "--embedding", "32", "--feed-forward", "32",
        "--context", "64", "-q")
    pathlib.Path("text.txt").write_text(
        "".join(f"The quick brown fox jumps over the lazy dog number {i}.\n" for i in range(60)))
    types = [word for name in TYPES for word in ("--to", name)]
    run("ingot", "quantize", "m-F16.gguf", *types, "--to-dir", "one", "-q")
    evaluate = ["evaluate", "m-F16.gguf", "one/m-Q8_0.gguf", "one/m-Q4_0.gguf", "--text", "text.txt", "--chunks", "20",
                "--json"]
    plans = {"files": ["quantize", "m-F16.gguf", *types, "--to-dir", "out"], "numbers": evaluate}
    for name, command in plans.items():
        pathlib.Path(name).write_text(
            run("ingot", "plan-work", "--jobs", "4", "--parts", name + ".parts", "--", *command))
    return run("ingot", *evaluate)


def run_parallel(plan):
    return run(EXAMPLES / "parallel.sh", plan, "--jobs", "2")


def run_snakemake(plan):
    run("snakemake", "-s", EXAMPLES / "Snakefile", "--cores", "2", "--quiet", "--config", f"plan={plan}")
    return pathlib.Path(plan + ".joined").read_text()


def run_dask(plan):
    return run(PYTHON, EXAMPLES / "dask_work.py", plan)


# Runs dask_types.py; the process that first gets a task is killed in the middle of it.
KILLED_ONCE = """
import os, signal
import ingot, dask_types
make = dask_types.make

def make_or_die(source, paths):
    try:
        os.mkdir({mark!r})
    except FileExistsError:
        return make(source, paths)
    with ingot.open(source) as model:
        plans = [ingot.plan_quantization(model, name, resume=True) for name in paths]
        ingot.quantize_together(plans, list(paths.values()),
                                progress=lambda done: os.kill(os.getpid(), signal.SIGKILL))

if __name__ == "__main__":
    dask_types.make = make_or_die
    dask_types.main()
"""


def check_module(place):
    """The files of the plan, made by workers that have the module instead of the program."""
    if subprocess.run([PYTHON, "-c", "import ingot"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print("the Python module is missing, and is not tried")
        return
    mark = place / "module.killed"
    script = place / "killed_once.py"
    script.write_text(KILLED_ONCE.format(mark=str(mark)))
    path = f"{EXAMPLES}:{os.environ.get('PYTHONPATH', '')}"
    run(PYTHON, script, "m-F16.gguf", "by_module", *TYPES, env={**os.environ, "PYTHONPATH": path})
    mark.rmdir()  # it was killed
    check_files("by_module")


PYTHON = sys.executable


def find_dask():
    """A Python that has Dask: this one, or that of the system."""
    global PYTHON
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import dask.distributed"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0:
            PYTHON = python
            return
    skip("dask.distributed is missing")


def processes_with(*settings):
    """The processes in whose environment all of these are."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (entry / "environ").read_bytes().split(b"\0")
            if int(entry.name) != os.getpid() and all(setting.encode() in words for setting in settings):
                yield int(entry.name)


def parent_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def name_of(pid):
    return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()


def kill_all(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Slurm:
    """A cluster of three nodes on this machine."""

    def __init__(self, place):
        self.place = place
        self.servers = {}
        self.setting = ""

    def start(self, name, *command):
        log = open(self.place / f"{name}.out", "w", encoding="utf-8")
        self.servers[name] = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def __enter__(self):
        place, host = self.place, run("hostname", "-s").strip()
        port = 20000 + os.getpid() * 8 % 20000
        (place / "spool").mkdir()
        conf = place / "slurm.conf"
        conf.write_text(f"""
ClusterName=ingot
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
StateSaveLocation={place}/spool/state
SlurmdSpoolDir={place}/spool/%n
SlurmctldPidFile={place}/spool/ctld.pid
SlurmdPidFile={place}/spool/%n.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
KillWait=1
SchedulerParameters=sched_interval=2,batch_sched_delay=0
MinJobAge=10
SlurmdParameters=config_overrides
NodeName=n[1-3] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{port + 1}-{port + 3}] CPUs=1
PartitionName=p Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP
""")
        os.environ["SLURM_CONF"] = str(conf)
        self.setting = f"SLURM_CONF={conf}"
        run("mungekey", "--create", "--keyfile", place / "munge.key")
        self.start("munged", "munged", "--foreground", "--force", f"--socket={place}/munge.socket",
                   f"--key-file={place}/munge.key", f"--log-file={place}/munged.log",
                   f"--pid-file={place}/munged.pid", f"--seed-file={place}/munge.seed")
        self.wait_for(lambda: (place / "munge.socket").exists())
        self.start("slurmctld", "slurmctld", "-D", "-f", conf)
        for node in ("n1", "n2", "n3"):
            self.start(node, "slurmd", "-D", "-N", node, "-f", conf)
        self.wait_for(lambda: len(run("sinfo", "-h", "-N", "-t", "idle").split("\n")) == 4)
        return self

    def wait_for(self, is_there):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            with contextlib.suppress(subprocess.CalledProcessError):
                if is_there():
                    return
            time.sleep(0.2)
        for log in sorted(self.place.glob("*.log")):
            print(f"--- {log.name}", log.read_text(errors="replace")[-2000:], sep="\n")
        raise TimeoutError("Slurm took too long")

    def kill_node(self, node):
        """Ends a node as a power cut would: its server, those that watch its jobs, and then the jobs."""
        jobs = list(processes_with(self.setting, f"SLURMD_NODENAME={node}"))
        watchers = {parent_of(pid) for pid in jobs}
        kill_all([self.servers[node].pid, *(pid for pid in watchers if name_of(pid) == "slurmstepd"), *jobs])

    def run_plan(self, plan, kill_node):
        joined = pathlib.Path(plan + ".joined")
        for _ in range(2):  # the join of the first call waits in vain for the task that was killed
            run(EXAMPLES / "slurm.sh", plan, "--exclusive")
            if kill_node:
                self.wait_for((self.place / "begun").exists)
                self.kill_node("n2")
            self.wait_for(lambda: run("squeue", "-h") == "")
            if not run("ingot", "run-work", plan, "--missing") and joined.exists():
                return joined.read_text()
        raise AssertionError(f"{plan} is not done")

    def __exit__(self, *_):
        kill_all(processes_with(self.setting))
        for server in self.servers.values():
            server.wait()


def check(plan_of, numbers):
    assert plan_of("files") == "", "the join of files prints something"
    assert plan_of("numbers") == numbers, "other numbers than those of one run"
    check_files("out")


def check_files(folder):
    """Whether a folder has the files of one run, and no others."""
    one, out = pathlib.Path("one"), pathlib.Path(folder)
    names = sorted(path.name for path in one.iterdir())
    assert names == sorted(path.name for path in out.iterdir())
    for name in names:
        assert (one / name).read_bytes() == (out / name).read_bytes(), name


def main(program, engine, *options):
    for needed in NEEDED[engine]:
        if not shutil.which(needed, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            skip(f"{needed} is missing")
    kill_node = "--kill-node" in options
    if engine == "dask":
        find_dask()
    if engine == "slurm" and os.geteuid() != 0:
        skip("only root starts nodes of Slurm")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder).resolve()
        (place / "bin").mkdir()
        wrapper = place / "bin" / "ingot"
        wrapper.write_text(WRAPPER.format(place=place, program=pathlib.Path(program).resolve()))
        wrapper.chmod(0o755)
        os.environ["PATH"] = f"{place}/bin:{os.environ['PATH']}"
        if kill_node:
            os.environ["KILL_NODE"] = "n2"
        (place / "work").mkdir()
        os.chdir(place / "work")
        numbers = make_inputs()
        if engine == "slurm":
            with Slurm(place) as slurm:
                check(lambda plan: slurm.run_plan(plan, kill_node and plan == "files"), numbers)
        else:
            check({"parallel": run_parallel, "snakemake": run_snakemake, "dask": run_dask}[engine], numbers)
        if engine == "dask":
            check_module(place)
        killed = [] if kill_node else ["files.killed", "numbers.killed"]
        assert sorted(path.name for path in place.glob("*.killed")) == killed, "no task was killed"
        os.chdir("/")


if __name__ == "__main__":
    main(*sys.argv[1:])
