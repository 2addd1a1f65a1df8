"""`python -m spr_dynamics` is `spr-dynamics`."""
import sys

from spr_dynamics.cli import main

sys.exit(main())
