"""Lets the tests here import evaluators.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
