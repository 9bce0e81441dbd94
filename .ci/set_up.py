"""Make `.venv` hold what a lock file names, and do nothing when it already does.

Usage: set_up.py [run|develop]. `make run` needs what running needs, all other targets the tools of developers too.
Two runs at once are safe: the second waits for the first and finds nothing to do.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "set-up"
LOCKS = {"run": "requirements.lock", "develop": "requirements-dev.lock"}
"""What each purpose installs; who develops has what running needs."""


def fingerprint(purpose: str) -> str:
    """Digest what the environment is made from; scripts in it name the root, so a moved tree differs."""
    digest = hashlib.sha256(str(ROOT).encode())
    for name in ("pyproject.toml", "requirements-build.lock", LOCKS[purpose]):
        digest.update((ROOT / name).read_bytes())
    return f"{purpose} {digest.hexdigest()}"


def is_current(purpose: str) -> bool:
    """Tell whether the environment was completed from the inputs as they are now, for this purpose or a wider one."""
    if not (PYTHON.exists() and STAMP.exists()):
        return False
    return STAMP.read_text() in {fingerprint(purpose), fingerprint("develop")}


def is_reusable() -> bool:
    """Tell whether the environment that stands there can be brought up to date in place."""
    script = VENV / "bin" / "pip"
    if not (PYTHON.exists() and script.exists() and str(VENV) in script.read_text()):
        return False
    recent = "import sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([PYTHON, "-c", recent], check=False).returncode == 0


def pip(*arguments: str) -> None:
    """Run the environment's own pip; raises CalledProcessError after pip has said why."""
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "-qq", *arguments]
    subprocess.run(command, cwd=ROOT, check=True)


def set_up(purpose: str) -> None:
    """Create or update the environment and stamp it last, so that a broken-off run starts over."""
    if not is_reusable():
        shutil.rmtree(VENV, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    STAMP.unlink(missing_ok=True)
    # One dependency comes without a wheel: build it with the locked tools, not with unhashed ones.
    pip("--require-hashes", "-r", "requirements-build.lock")
    # The lock is whole; what it leaves out on purpose is not fetched after all.
    pip("--require-hashes", "--no-deps", "--no-build-isolation", "-r", LOCKS[purpose])
    pip("--no-deps", "--no-build-isolation", "-e", ".")
    STAMP.write_text(fingerprint(purpose))


def main() -> int:
    """Bring the environment up to date under a lock; returns the exit code."""
    purpose = sys.argv[1] if len(sys.argv) > 1 else "develop"
    if purpose not in LOCKS:
        print(f"no such purpose: {purpose}; give one of {', '.join(LOCKS)}")
        return 2
    if is_current(purpose):
        return 0
    if sys.version_info < (3, 11):
        here = f"{sys.executable} is {sys.version.split()[0]}"
        print(f"moot needs Python 3.11 or newer, {here}: name one with make PYTHON=...")
        return 2
    with (ROOT / "pyproject.toml").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_current(purpose):
            return 0
        print("setting up .venv (the first time takes about a minute) ...", flush=True)
        started = time.perf_counter()
        try:
            set_up(purpose)
        except subprocess.CalledProcessError as error:
            print(f"the set-up failed: {error}")
            return 1
        print(f"set up .venv in {time.perf_counter() - started:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
