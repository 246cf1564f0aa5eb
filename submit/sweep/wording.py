"""A sweep's configs in words."""

from collections.abc import Mapping

from mxsub.submit.history.sweeps import Trial


def words_for(values: Mapping[str, object]) -> str:
    """`NUM_KSPLIT 4, cache_modifier ''`."""
    return ", ".join(f"{knob} {value if value != '' else repr('')}" for knob, value in values.items())


def trial_words(trial: Trial, of: int) -> str:
    """`submission 3 of 7: NUM_KSPLIT 4 for 2 shapes`."""
    kinds: dict[str, list[str]] = {}
    for shape, values in trial.candidates.items():
        kinds.setdefault(words_for(values), []).append(shape)
    parts = [
        f"{words} for {shapes[0] if len(shapes) == 1 else f'{len(shapes)} shapes'}" for words, shapes in kinds.items()
    ]
    return f"submission {trial.position + 1} of {of}: {'; '.join(parts) or 'the baseline'}"
