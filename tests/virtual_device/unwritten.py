"""What of torch.empty()'s memory nothing has written, under the sanitizer init."""

import json
import os
from pathlib import Path

import run_checks
import torch

from mxsub.virtual.unwritten import written_elements


def sentences():
    """Of the findings since the last call, each once."""
    log = Path(os.environ["MXSUB_VIRTUAL_LOG"])
    entries = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    log.write_text("")
    return [entry["sentence"] for entry in entries if entry["event"] == "finding"]


def empty(*size):
    return torch.empty(size, device="cuda")


def check_form_is_no_reading():
    x = empty(4, 6)
    x.shape, x.stride(), x.numel(), x.data_ptr(), x.is_cuda, x.device, len(x)
    x.view(6, 4).t()[1:].unsqueeze(0).expand(2, 3, 6)
    torch.zeros_like(x), torch.empty_like(x), x.new_ones(3)
    assert sentences() == []


def check_reading():
    (found,) = sentences_after(lambda: empty(4, 6).sum())
    assert "of which" not in found
    assert "a tensor (float32 [4, 6]) is read by sum while 24 of its 24 elements, first [0, 0], were never" in found
    assert sentences_after(lambda: empty(3) + 1) != []
    assert sentences_after(lambda: empty(3).cpu()) != []
    assert sentences_after(lambda: torch.ones(3, device="cuda") @ empty(3)) != []
    assert sentences_after(lambda: empty(1).item()) != []
    assert sentences_after(lambda: empty(4).clone()) != []


def sentences_after(action):
    action()
    return sentences()


def check_writing():
    for fill in (
        lambda x: x.zero_(),
        lambda x: x.fill_(1),
        lambda x: x.copy_(torch.ones(4, 6)),
        lambda x: x.__setitem__(slice(None), 1),
        lambda x: torch.add(torch.ones(4, 6, device="cuda"), 1, out=x),
        lambda x: x.normal_(),
    ):
        x = empty(4, 6)
        fill(x)
        assert written_elements(x).all()
        x.sum()
        assert sentences() == []


def check_writing_a_part():
    x = empty(4, 6)
    x[1:3, ::2] = 1
    want = torch.zeros(4, 6, dtype=torch.bool)
    want[1:3, ::2] = True
    assert torch.equal(written_elements(x), want)
    x[1, 2:3].sum()
    assert sentences() == []
    (found,) = sentences_after(lambda: x[1].sum())
    assert "3 of its 6 elements, first [1], were never written" in found
    y = empty(4)
    y[:2].copy_(torch.ones(2))
    assert written_elements(y).tolist() == [True, True, False, False]


def check_writing_by_a_mask_or_an_index():
    x, mask = empty(4), torch.tensor([True, False, True, False], device="cuda")
    x[mask] = 1
    assert written_elements(x).tolist() == [True, False, True, False]
    x.masked_fill_(~mask, 2)
    assert written_elements(x).all()
    y = empty(4)
    y.scatter_(0, torch.tensor([3], device="cuda"), 1.0)
    assert written_elements(y).tolist() == [False, False, False, True]
    assert sentences() == []


def check_working_in_place_reads():
    (found,) = sentences_after(lambda: empty(4).add_(1))
    assert "is read by add_ while 4 of its 4 elements" in found


def check_a_storage_that_grows():
    x = empty(2).fill_(1)
    x.resize_(4)
    assert written_elements(x).tolist() == [True, True, False, False]


def check_views_of_another_dtype():
    x = torch.empty(8, dtype=torch.uint8, device="cuda")
    x[2:4] = 1
    assert written_elements(x.view(torch.int16)).tolist() == [False, True, False, False]


def check_it_is_said_once():
    x = empty(5)
    assert len(sentences_after(lambda: (x.sum(), x.sum()))) == 1


def check_what_is_not_empty_is_not_followed():
    assert written_elements(torch.zeros(3, device="cuda")) is None
    assert written_elements(torch.empty(3)) is None


if __name__ == "__main__":
    run_checks.main(globals())
