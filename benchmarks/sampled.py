"""How long a sample of a large product takes, from the command to its verdict, and the most memory of any process.

python -m benchmarks.sampled [M,N,K]
"""

import resource
import subprocess
import sys
import time

WORKGROUPS = 64
BOUND = 20.0


def main() -> None:
    shape = sys.argv[1] if len(sys.argv) > 1 else "4096,4096,4096"
    command = [sys.executable, "-c", "from mxsub.cli import main; main()", "test", "--sample", str(WORKGROUPS)]
    start = time.perf_counter()
    done = subprocess.run([*command, "--shape", shape], capture_output=True, text=True, check=False)
    taken = time.perf_counter() - start
    print(done.stdout + done.stderr, end="")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    over = "" if taken < BOUND else "   OVER"
    print(f"{shape}, {WORKGROUPS} workgroups: {taken:.1f} s, bound {BOUND:.0f} s{over}; peak memory {peak:,.0f} MiB")


if __name__ == "__main__":
    main()
