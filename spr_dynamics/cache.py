"""Where a user's machine keeps what takes long to make."""
import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder for machine code and cut meshes; it need not exist yet."""
    root = (os.environ.get('NUMBA_CACHE_DIR') or os.environ.get('XDG_CACHE_HOME')
            or Path.home() / '.cache')
    return Path(root) / 'spr_dynamics'
