"""What AMD's aiter needs for each shape of a board, as published with the board's task."""

from collections.abc import Mapping

# Leaderboard -> shape -> us.
AITER_TIMES: Mapping[str, Mapping[str, float]] = {
    "amd-mxfp4-mm": {
        "4x2880x512": 8.198,
        "16x2112x7168": 20.873,
        "32x4096x512": 9.462,
        "32x2880x512": 9.173,
        "64x7168x2048": 12.738,
        "256x3072x1536": 12.219,
    }
}
