"""What several tests of the Python module need."""
import os
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The program to compare with.
PROGRAM = Path(os.environ.get('WAYMARK') or ROOT / 'build/dev/bin/waymark')


def program_environment():
    """For PROGRAM, which has the run-time library of a sanitizer inside."""
    return {name: value for name, value in os.environ.items() if name != 'LD_PRELOAD'}


def in_threads(count, work):
    """What work() returned in each of so many threads at once, in the order in which they ended."""
    results = []
    threads = [threading.Thread(target=lambda: results.append(work())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
