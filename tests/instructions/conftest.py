"""The bench and the random numbers of the emulator's tests."""

from tests.emulator.conftest import bench, random

__all__ = ["bench", "random"]
