"""Every rule but KernelGuard's: what it flags, at which place, and what it leaves alone."""

import random
import sys

import pytest

from mxsub.submit.lint import Finding, lint

HEADER = "#!POPCORN leaderboard amd-mxfp4-mm\n#!POPCORN gpu MI355X\n"
KERNEL = "def custom_kernel(data):\n    return compute(data[0])\n"
GOOD = HEADER + KERNEL


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "lint-cache"))


def found(source: str | bytes, rule: str, filename: str = "submission.py", gpus: tuple[str, ...] = ()) -> list[Finding]:
    """The findings of one rule; the board is amd-mxfp4-mm."""
    data = source.encode() if isinstance(source, str) else source
    findings = lint(data, leaderboard="amd-mxfp4-mm", gpus=gpus, filename=filename)
    assert findings == sorted(findings, key=lambda finding: finding.order)
    return [finding for finding in findings if finding.rule == rule]


def places(source: str | bytes, rule: str, **options: object) -> list[tuple[int, int]]:
    return [(finding.line, finding.column) for finding in found(source, rule, **options)]  # type: ignore[arg-type]


def test_a_clean_submission_has_no_findings() -> None:
    assert lint(GOOD.encode(), leaderboard="amd-mxfp4-mm", gpus=("MI355X",)) == []


FLAGGED: list[tuple[str, str | bytes, list[tuple[int, int]]]] = [
    ("MX001", GOOD + "# the upstream fix\n", [(5, 9)]),
    ("MX001", GOOD + "queue = torch.cuda.Stream()\n", [(5, 20)]),
    ("MX001", GOOD + 'cpp = """\nhipStream_t s; // STREAM\n"""\n', [(6, 4), (6, 19)]),
    ("MX001", GOOD + "é = 'streamstream'\n", [(5, 6), (5, 12)]),
    ("MX001", HEADER + "#\x0cdownstream\n" + KERNEL, [(3, 7)]),
    ("MX002", "#!POPCORN\n" + KERNEL, [(1, 1)]),
    ("MX002", "#!POPCORN gpu\n" + KERNEL, [(1, 11)]),
    ("MX002", "#\n//!POPCORN  team blue\n" + KERNEL, [(2, 13)]),
    ("MX002", HEADER + "#!POPCORN gpus H100\n" + KERNEL, [(3, 11)]),
    ("MX002", HEADER + "# x\n#!POPCORN LEADERBOARD amd-mxfp4-mm\n#!POPCORN team\n" + KERNEL, [(4, 11), (5, 11)]),
    ("MX003", "#!POPCORN leaderboard other\n" + KERNEL, [(1, 23)]),
    ("MX003", "#!POPCORN leaderboard AMD-MXFP4-MM\n" + KERNEL, [(1, 23)]),
    ("MX003", "#!POPCORN gpu MI355X\n//!POPCORN Leaderboard   amd-mxfp4-m\n" + KERNEL, [(2, 26)]),
    ("MX004", "\n" + GOOD, [(2, 1), (3, 1)]),
    ("MX004", '"""My kernel."""\n#!POPCORN gpu MI355X\n' + KERNEL, [(2, 1)]),
    ("MX004", "#!POPCORN leaderboard amd-mxfp4-mm\nimport torch\n#!POPCORN gpu MI355X\n" + KERNEL, [(3, 1)]),
    ("MX004", "#!POPCORN leaderboard amd-mxfp4-mm\n  # indented\n#!POPCORN gpu MI355X\n" + KERNEL, [(3, 1)]),
    ("MX005", "#!POPCORN gpu MI355X H100\n" + KERNEL, [(1, 22)]),
    ("MX005", "#!POPCORN gpu mi355x\n" + KERNEL, [(1, 15)]),
    ("MX005", "#!POPCORN gpus MI999\n" + KERNEL, [(1, 16)]),
    ("MX006", "\n#!POPCORN leaderboard AMD-mxfp4-mm\n" + KERNEL, [(2, 23)]),
    ("MX006", "import x\n#!POPCORN leaderboard amd-MLA\n" + KERNEL, [(2, 23)]),
    ("MX006", "\n//!POPCORN leaderboard A\n//!POPCORN leaderboard b\n" + KERNEL, [(2, 24)]),
    ("MX007", KERNEL, [(1, 1)]),
    ("MX007", "#!POPCORN gpu MI355X\n" + KERNEL, [(1, 1)]),
    ("MX007", "#!POPCORN leaderboard amd-mxfp4-mm\n" + KERNEL, [(1, 1)]),
    ("MX008", "# !POPCORN gpu MI355X\n" + KERNEL, [(1, 1)]),
    ("MX008", "#!popcorn leaderboard amd-mxfp4-mm\n#!Popcorn gpu MI355X\n" + KERNEL, [(1, 1), (2, 1)]),
    ("MX008", GOOD + "\n// POPCORN gpu H100\n".replace("//", "#"), [(6, 1)]),
    ("MX010", b"", [(1, 1)]),
    ("MX013", "\ufeff" + GOOD, [(1, 1)]),
    ("MX013", "\ufeff" + KERNEL, [(1, 1)]),
    ("MX013", "\ufeff\n", [(1, 1)]),
    ("MX014", HEADER.encode() + b"x = 'caf\xe9'\n" + KERNEL.encode(), [(3, 9)]),
    ("MX014", "é\r\n".encode() + "\u00e9x".encode() + b"\xff\xfe", [(2, 3)]),
    ("MX014", GOOD.encode("utf-16"), [(1, 1)]),
    ("MX014", b"# a\rb \xc3", [(2, 3)]),
    ("MX015", GOOD + "x = '\0'\n", [(5, 6)]),
    ("MX015", "\0" + GOOD, [(1, 1)]),
    ("MX015", GOOD + "#é\0\0\n", [(5, 3)]),
    ("MX016", GOOD + "# a\rx = 1\n", [(5, 4)]),
    ("MX016", GOOD.replace("\n", "\r"), [(1, 35)]),
    ("MX016", GOOD + "x = 1\r\n\r# last\r", [(6, 1)]),
    ("MX020", GOOD + "x = (\n", [(5, 5)]),
    ("MX020", GOOD + "x = 1 +\n", [(5, 8)]),
    ("MX020", GOOD + "é = 1 1\n", [(5, 7)]),
    ("MX020", GOOD + "é = 1; return 1\n", [(5, 8)]),
    ("MX020", "\ufeffé = 1 1\n", [(1, 8)]),
    ("MX020", GOOD + "return 1\n", [(5, 1)]),
    ("MX020", GOOD + "nonlocal x\n", [(5, 1)]),
    ("MX021", HEADER + "def kernel(data):\n    return data\n", [(1, 1)]),
    ("MX021", HEADER + "class A:\n    def custom_kernel(self, data):\n        return data\n", [(4, 5)]),
    ("MX021", HEADER + "if __name__ == '__main__':\n    def custom_kernel(data):\n        return data\n", [(4, 5)]),
    ("MX021", HEADER + "custom_kernel: object\n", [(1, 1)]),
    ("MX021", GOOD + "del custom_kernel\n", [(3, 1)]),
    ("MX022", HEADER + "def custom_kernel():\n    return 1\n", [(3, 1)]),
    ("MX022", HEADER + "x = 1\ndef custom_kernel(a, b):\n    return a\n", [(4, 1)]),
    ("MX022", HEADER + "custom_kernel = lambda a, b: a\n", [(3, 1)]),
    ("MX022", HEADER + "def custom_kernel(data, *, out):\n    return out\n", [(3, 1)]),
    ("MX022", HEADER + "async def custom_kernel(data):\n    return data\n", [(3, 1)]),
    ("MX022", HEADER + "é = 1; custom_kernel = None\n", [(3, 8)]),
    ("MX022", HEADER + "import triton\n\n@triton.jit\ndef custom_kernel(x):\n    pass\n", [(6, 1)]),
    ("MX022", HEADER + "def f(a, b):\n    return a\n\ncustom_kernel = f\n", [(6, 1)]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "source", "expected"), FLAGGED)
def test_flagged(rule: str, source: str | bytes, expected: list[tuple[int, int]]) -> None:
    assert places(source, rule) == expected


NEAR_MISSES: list[tuple[str, str | bytes]] = [
    ("MX001", GOOD + "# stre am, s.t.r.e.a.m, st\nream = 'maerts'\n"),
    # A long s, a Greek capital epsilon and a Cyrillic dze.
    ("MX001", GOOD + "x = '\u017ftream STR\u0395AM \u0455tream'\n"),
    ("MX001", GOOD + 'x = "st" "ream"\n'),
    ("MX002", "# !POPCORN team blue\n#!popcorn\n" + GOOD),
    ("MX002", "#!POPCORNS team\n" + GOOD),
    ("MX002", GOOD + "#!POPCORN\n#!POPCORN team blue\n"),
    ("MX002", "//!POPCORN GPUS MI355X\n#!POPCORN LeaderBoard amd-mxfp4-mm extra words\n" + KERNEL),
    ("MX003", GOOD),
    ("MX003", "\n#!POPCORN leaderboard other\n" + KERNEL),
    ("MX003", "#!POPCORN leaderboard\n" + KERNEL),
    ("MX004", GOOD),
    ("MX004", "# licence\n//\n" + GOOD),
    ("MX004", "\ufeff" + GOOD),
    ("MX004", GOOD + "    #!POPCORN gpu MI355X\nx = '#!POPCORN gpu MI355X'\n"),
    ("MX005", "#!POPCORN gpu MI355X\n" + KERNEL),
    ("MX005", "#!POPCORN gpus H100\n" + KERNEL),
    ("MX005", "#!POPCORN gpu\n" + KERNEL),
    ("MX006", GOOD),
    ("MX006", "#!POPCORN LEADERBOARD amd-mxfp4-mm\n" + KERNEL),
    ("MX006", "#!POPCORN leaderboard Other\n" + KERNEL),
    ("MX007", GOOD),
    ("MX007", "\n" + GOOD),
    ("MX007", "# !POPCORN gpu MI355X\n" + KERNEL),
    ("MX008", GOOD),
    ("MX008", "# POPCORN is good\n# popcorn gpus are GPUs of popcorn\n" + GOOD),
    ("MX008", GOOD + "x = '# !POPCORN gpu MI355X'\n"),
    ("MX010", b"\n"),
    ("MX010", b" "),
    ("MX010", b"\0"),
    ("MX013", GOOD),
    ("MX013", HEADER + "\ufeff" + KERNEL),
    ("MX013", GOOD + "x = '\ufeff'\n"),
    ("MX014", GOOD + "x = 'café 🍿'\n"),
    ("MX014", "\ufeff" + GOOD),
    ("MX014", b"\x7f\x00"),
    ("MX015", GOOD + r"x = '\0'" + "\n"),
    ("MX015", GOOD + "x = '\x01␀'\n"),
    ("MX015", GOOD),
    ("MX016", GOOD.replace("\n", "\r\n")),
    ("MX016", GOOD + "x = '\\r'\n"),
    ("MX016", GOOD + "# \x0b\x0c\x85\u2028\n"),
    ("MX020", GOOD.replace("\n", "\r\n")),
    ("MX020", "\ufeff" + GOOD),
    ("MX020", GOOD + "x = '\\d'  # only a warning\n"),
    ("MX020", "# -*- coding: latin-1 -*-\n" + GOOD),
    ("MX020", GOOD + "match 1:\n    case 1:\n        pass\ntry:\n    pass\nexcept* OSError:\n    pass\n"),
]


@pytest.mark.parametrize(("rule", "source"), NEAR_MISSES)
def test_near_misses(rule: str, source: str | bytes) -> None:
    assert places(source, rule) == []


ENTRY_POINTS = [
    "from fast import custom_kernel\n",
    "import fast as custom_kernel\n",
    "from fast import *\n",
    "custom_kernel = lambda data: data\n",
    "custom_kernel = torch.compile(work)\n",
    "custom_kernel = functools.partial(work, 1)\n",
    "custom_kernel: Callable = work\n",
    "def work(data):\n    return data\ncustom_kernel = work\n",
    "def work(a, b):\n    return a\nwork = wrap(work)\ncustom_kernel = work\n",
    "first, custom_kernel = make()\n",
    "(custom_kernel := lambda data: data)\n",
    "if (custom_kernel := make()):\n    pass\n",
    "for custom_kernel in kernels:\n    pass\n",
    "with make() as custom_kernel:\n    pass\n",
    "def custom_kernel(data, scale=1.0, *, out=None):\n    return data\n",
    "def custom_kernel(*args):\n    return args[0]\n",
    "def custom_kernel(data, /):\n    return data\n",
    "def custom_kernel(data, *rest, **more):\n    return data\n",
    "def custom_kernel(a=1, b=2):\n    return a\n",
    "@torch.no_grad()\ndef custom_kernel(data):\n    return data\n",
    "@unpack\ndef custom_kernel(a, b):\n    return a\n",
    "@make_kernel('fp4')\nasync def custom_kernel(a, b):\n    return a\n",
    "class custom_kernel:\n    def __new__(cls, data):\n        return data\n",
    "try:\n    from fast import custom_kernel\nexcept ImportError:\n    def custom_kernel(a, b):\n        return a\n",
    "if torch.version.hip:\n    def custom_kernel(data):\n        return data\nelse:\n    custom_kernel = None\n",
    "if __name__ != '__main__':\n    def custom_kernel(data):\n        return data\n",
    "if __name__ == '__main__':\n    pass\nelse:\n    def custom_kernel(data):\n        return data\n",
    "while True:\n    def custom_kernel(data):\n        return data\n    break\n",
    "custom_kernel = None\ndef custom_kernel(data):\n    return data\n",
    "def custom_kernel(a, b):\n    return a\ncustom_kernel = adapt(custom_kernel)\n",
    "def setup():\n    global custom_kernel\n    custom_kernel = make()\nsetup()\n",
    "globals()['custom_kernel'] = make()\n",
    "def __getattr__(name):\n    return make(name)\n",
    "match backend:\n    case 'hip':\n        custom_kernel = make()\n",
    "@torch.inference_mode\ndef custom_kernel(data):\n    return data\n",
]  # fmt: skip


@pytest.mark.parametrize("source", ENTRY_POINTS)
def test_entry_points_that_can_be_imported_and_called(source: str) -> None:
    assert places(HEADER + source, "MX021") == []
    assert places(HEADER + source, "MX022") == []


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("def custom_kernel():\n    pass\n", "takes no positional argument"),
        ("def custom_kernel(a, b, c=1):\n    pass\n", "needs 2 arguments"),
        ("def custom_kernel(*, data):\n    pass\n", "takes no positional argument"),
        ("def custom_kernel(a, *, b, c):\n    pass\n", "needs the keyword arguments b, c"),
        ("custom_kernel = 3.5\n", "is 3.5, which cannot be called"),
        ("custom_kernel = [1]\n", "is a value that cannot be called"),
        ("@triton.autotune(configs=[], key=[])\n@triton.jit\ndef custom_kernel(x):\n    pass\n", "is a Triton kernel"),
        ("async def custom_kernel(data):\n    pass\n", "is async"),
        ("@torch.no_grad()\ndef custom_kernel(a, b):\n    pass\n", "needs 2 arguments"),
    ],
)
def test_what_is_wrong_with_an_entry_point(source: str, problem: str) -> None:
    (finding,) = found(HEADER + source, "MX022")
    assert problem in finding.message
    assert (finding.severity, finding.judge) == ("error", "runner")


def test_a_similar_name_is_pointed_out() -> None:
    (finding,) = found(HEADER + "def custom_kernal(data):\n    return data\n", "MX021")
    assert finding.message == "the file defines no custom_kernel at module level; 'custom_kernal' is close"


def test_banned_word_names_the_innocent_ways() -> None:
    source = GOOD + "# an upstream fix\ndownstream = cpp('cudaStream_t q')\n# Streams\n"
    assert [finding.message for finding in found(source, "MX001")] == [
        "'upstream' in a comment holds the banned word 'stream'",
        "'downstream' in the code holds the banned word 'stream'",
        "'cudaStream_t' in a string holds the banned word 'stream'",
        "'Streams' in a comment holds the banned word 'stream'",
    ]


def test_more_banned_words_than_anyone_reads_are_counted() -> None:
    findings = found(GOOD + "# stream\n" * 1000, "MX001")
    assert len(findings) == 201
    assert findings[-1].line == 4 + 201
    assert "799 times more after it, 1,000 times in all" in findings[-1].message


def test_where_a_block_of_directives_ends() -> None:
    assert "ends with line 1, which is blank" in found("\n" + GOOD, "MX004")[0].message
    assert "ends with line 2, where a docstring starts" in found('# x\n"""Doc"""\n' + GOOD, "MX004")[0].message
    assert "ends with line 1, which is no comment" in found("import x\n" + GOOD, "MX004")[0].message


def test_line_separators_of_the_server() -> None:
    """The server's lines also end with a form feed or U+2028, which editors and Python do not count as line ends."""
    assert places("# licence\x0c#!POPCORN\n" + KERNEL, "MX002") == [(1, 11)]
    assert places("# licence\u2028code\n" + GOOD, "MX004") == [(2, 1), (3, 1)]


@pytest.mark.parametrize(
    ("gpus", "message"),
    [
        (("MI355X",), "the file names the GPU 'H100', and is for MI355X"),
        (("MI300X", "MI355X"), "the file names the GPU 'H100', and is for MI300X or MI355X"),
    ],
)
def test_gpu_of_another_board(gpus: tuple[str, ...], message: str) -> None:
    (finding,) = found("#!POPCORN gpu H100\n" + KERNEL, "MX005", gpus=gpus)
    assert (finding.message, finding.severity) == (message, "warning")


def test_without_a_board_its_name_is_not_checked() -> None:
    source = b"#!POPCORN leaderboard any\n#!POPCORN gpu MI355X\n" + KERNEL.encode()
    assert lint(source) == []


@pytest.mark.slow
def test_size_limits() -> None:
    padding = GOOD + "#" * (999_999 - len(GOOD)) + "\n"
    assert len(padding) == 1_000_000
    assert places(padding, "MX011") == []
    assert places(padding + "\n", "MX011") == [(1, 1)]
    assert places(b"\xff" * 1_000_001, "MX011") == [(1, 1)]
    assert places(GOOD, "MX011") == []


def noise(count: int) -> str:
    """Lines that hardly compress, in a triple-quoted string, which KernelGuard skips."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    lines = random.Random(7).choices(letters, k=count)
    text = "".join(lines)
    return GOOD + 'DATA = """\n' + "\n".join(text[at : at + 80] for at in range(0, count, 80)) + '\n"""\n'


@pytest.mark.slow
def test_compressed_size() -> None:
    assert places(noise(60_000), "MX012") == [(1, 1)]
    assert "over the 55,000" in found(noise(60_000), "MX012")[0].message
    assert "near the 55,000" in found(noise(51_000), "MX012")[0].message
    assert places(noise(58_000).replace("A", "é"), "MX012") == [(1, 1)]
    assert places(noise(40_000), "MX012") == []
    assert places(GOOD + "# comment\n" * 50_000, "MX012") == []
    assert places(GOOD, "MX012") == []


@pytest.mark.parametrize("name", ["a.PY", "submission.txt", "x.zip", "x.tar.gz", "submission", "py"])
def test_file_names_refused(name: str) -> None:
    assert places(GOOD, "MX017", filename=name) == [(1, 1)]


@pytest.mark.parametrize("name", ["a.py", "dir.zip/b.py", "x.cu", "x.cuh", "x.cpp", ".py"])
def test_file_names_taken(name: str) -> None:
    assert places(GOOD, "MX017", filename=name) == []


def test_cuda_files_are_not_read_as_python() -> None:
    source = b"//!POPCORN leaderboard b\n//!POPCORN gpu H100\n__global__ void kernel(float *x) { x[0] = 1; }\n"
    assert lint(source, filename="kernel.cu") == []


def test_a_file_that_is_not_text_is_judged_by_its_bytes_only() -> None:
    findings = lint(b"\xffstream #!POPCORN", filename="x.bin")
    assert [finding.rule for finding in findings] == ["MX014", "MX017"]


@pytest.mark.parametrize(
    "line", ['x = f"{a["b"]}"', "type Shape = tuple", "def first[T](xs: T) -> T: return xs", "class A[T]: pass"]
)
def test_syntax_of_the_runners_python_that_an_older_one_cannot_read(line: str) -> None:
    findings = lint((GOOD + line + "\n").encode(), leaderboard="amd-mxfp4-mm")
    if sys.version_info >= (3, 12):
        assert findings == []
    else:
        (finding,) = findings
        assert (finding.rule, finding.severity, finding.line) == ("MX020", "warning", 5)
        assert "the runner's Python 3.12 may" in finding.message


@pytest.mark.parametrize("line", ["except* = 1", "x = f'{'", "def f(a b): pass"])
def test_syntax_that_no_python_can_read(line: str) -> None:
    (finding,) = found(GOOD + line + "\n", "MX020")
    assert finding.line == 5
