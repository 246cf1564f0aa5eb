"""The bench of the emulator's tests."""

from tests.emulator.conftest import bench

__all__ = ["bench"]
