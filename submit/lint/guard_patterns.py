"""KernelGuard's patterns in our words: what each takes the code for, what to do, and what its line looks like.

The names are those of kernelguard 0.3.2's rule registry. Patterns that judge scores or whole archives of
submissions have no entry: the service asks about a text alone, so they cannot match.
"""

from dataclasses import dataclass

_NO_REUSE = "Compute the output in every call; keep compiled kernels and constants between calls, never tensors."
_LEAVE_ALONE = "Leave the evaluator's modules and functions as they are, and take what you need from `data`."
_HONEST_TIME = "Do all of the work inside custom_kernel, on the queue that is current, and leave timers alone."
_TUNE_ONLY = "Choose block sizes by shape if you like, but run the same exact computation for every shape and input."


@dataclass(frozen=True)
class Pattern:
    """meaning: what the pattern takes the code for. fix: what to do.

    clues: regular expressions for the line that triggers it, the most telling first.
    """

    meaning: str
    fix: str
    clues: tuple[str, ...] = ()


_CACHE_RETURN = r"return\s+\w*(?:cache|reuse)\w*\s*\["
_CACHE_GET = r"\w*(?:cache|reuse)\w*\.get\s*\("
_CACHE_STORE = r"\w*(?:cache|reuse)\w*\s*\[[^\]\n]{1,200}\]\s*="
_CACHED = r"(?i:" + "|".join((_CACHE_RETURN, _CACHE_GET, _CACHE_STORE)) + ")"
_POINTER = r"\.data_ptr\s*\("
_GRAPH = r"CUDAGraph\s*\(|cudaGraph(?:Launch|Instantiate|Create)\b|StreamBeginCapture\b|\.replay\s*\("

PATTERNS: dict[str, Pattern] = {
    "TIMER_MONKEYPATCH": Pattern(
        "replaces a clock, an event or a synchronization that the evaluator times with",
        _HONEST_TIME,
        (
            r"torch\.cuda\.(?:Event(?:\.elapsed_time)?|synchronize)\s*=",
            r"setattr\s*\([^\n]{0,80}(?:Event|elapsed_time|synchronize)",
            r"class\s+_?(?:[Dd]ummy|[Ff]ake|[Mm]ock|[Ss]tub|[Nn]oop)\w*Event",
            r"\btime\.(?:perf_counter|monotonic|process_time|time)(?:_ns)?\s*=",
            r"\bpatch\s*\(",
            r"\bsetattr\s*\(",
        ),
    ),
    "FAKE_BENCHMARK_EMIT": Pattern(
        "prints what looks like a benchmark's result, or replaces print",
        "Print nothing that looks like a result, and leave print alone.",
        (
            r"def\s+_?emit_fake_benchmark",
            r"builtins\.print\s*=",
            r"Ranked\s+Benchmark",
            r"BENCHMARK_PASSED",
            r"\bprint\s*\(",
        ),
    ),
    "STDIO_REDIRECT": Pattern(
        "replaces sys.stdout or sys.stderr",
        "Silence a noisy library with its own option.",
        (r"sys\.std(?:out|err)\s*=",),
    ),
    "EVALUATOR_EXPLOIT": Pattern(
        "reaches into the evaluator through the __main__ module",
        _LEAVE_ALONE,
        (r"from\s+__main__\s+import", r"import\s+__main__", r"sys\.modules", r"\bmain\.\w+\s*="),
    ),
    "HARNESS_RUNTIME_PATCHING": Pattern(
        "changes the evaluator, or Python's builtins, while it runs",
        _LEAVE_ALONE,
        (
            r"\bsetattr\s*\(",
            r"builtins\.\w+\s*=",
            r"__builtins__",
            r"__globals__",
            r"gc\.get_",
            r"\bexec\s*\(",
        ),
    ),
    "TORCH_VALIDATION_MONKEYPATCH": Pattern(
        "replaces a torch function that the evaluator checks outputs with",
        _LEAVE_ALONE,
        (r"torch\.(?:allclose|isclose|equal|testing\.\w+)\s*=", r"setattr\s*\(\s*torch", r"\bpatch\s*\("),
    ),
    "EVALUATOR_MODE_BRANCH": Pattern(
        "behaves differently by the evaluator's mode, read from the command line",
        "Do the same in every mode.",
        (r"sys\.argv",),
    ),
    "BENCHMARK_SHAPE_REPLAY": Pattern(
        "keeps outputs for the benchmark's shapes and hands them out again", _NO_REUSE, (_CACHED, _POINTER)
    ),
    "SCALED_MM_REF": Pattern(
        "lets torch._scaled_mm, the reference's way, compute the output",
        "Compute with your own kernel.",
        (r"_scaled_mm",),
    ),
    "DECODE_MM_REF": Pattern(
        "decodes the operands and multiplies them with torch, as a reference does",
        "Compute with your own kernel.",
        (r"torch\.(?:mm|bmm|matmul|einsum)\s*\(", r"\s@\s"),
    ),
    "OUTPUT_REPLAY_CACHE": Pattern(
        "returns from custom_kernel what an earlier call left in a cache; a cache of input views keyed by address "
        "reads the same",
        _NO_REUSE + " Make views of the inputs afresh: it costs nothing on the clock that counts.",
        (_CACHED, r"@(?:functools\.)?(?:lru_cache|cache)\b", r"_result_reuse", _POINTER),
    ),
    "LAST_CALL_REPLAY": Pattern(
        "returns the last call's output when the inputs look the same",
        _NO_REUSE,
        (_POINTER, r"\bid\s*\(", r"\b_?last_\w+", _CACHED),
    ),
    "SHAPE_OUTPUT_REPLAY": Pattern(
        "returns an output that was kept for the same shape", _NO_REUSE, (_CACHED, r"\.shape\b")
    ),
    "TIMED_INPUT_REPLAY": Pattern(
        "keeps a quantized or transformed form of a timed input between calls", _NO_REUSE, (_POINTER, _CACHED)
    ),
    "PREPROCESS_CACHE": Pattern(
        "keeps preprocessed inputs, such as scales, views or quantized forms, in a cache",
        _NO_REUSE,
        (r"_decoded_cache|_PREPROCESS_CACHE|_scale_cache", _CACHED),
    ),
    "WORKSPACE_CACHE": Pattern(
        "keeps buffers between calls",
        "Allocate with torch.empty in every call: its allocator reuses memory, off the clock that counts.",
        (
            r"WeakValueDictionary|_(?:OUTPUT|RESULT|GROUPED_RESULT|COMPUTE|GEMM)_CACHE|\._version\b|thread_local",
            _CACHED,
            r"\bid\s*\(\s*data\s*\)",
            _POINTER,
        ),
    ),
    "RUNNER_PLAN_CACHE": Pattern(
        "keeps compiled runners, plans or configs in a cache, which is allowed",
        "Nothing need change.",
        (_CACHED,),
    ),
    "CUDA_GRAPH_REPLAY": Pattern(
        "captures or launches CUDA graphs through the C API",
        "Launch the kernels plainly.",
        (_GRAPH, r"libcudart"),
    ),
    "CUDA_GRAPH_PYTHON": Pattern("captures a CUDA graph and replays it", "Launch the kernels plainly.", (_GRAPH,)),
    "SEQUENCE_BATCH_GRAPH": Pattern(
        "learns the order of the benchmark's calls and runs many at once",
        _HONEST_TIME,
        (r"\b_?call_sequence\b|\b_?known_seq\b|\bbatch_graph\b|\bbatch_handle\b", _GRAPH),
    ),
    "PARTIAL_GRAPH_KEY": Pattern(
        "launches a recorded graph chosen by a part of the inputs' identity",
        _NO_REUSE,
        (r"ctypes\.CDLL", _GRAPH, r"instant_launch"),
    ),
    "SILENT_FALLBACK": Pattern(
        "falls back to torch.matmul when its own kernel fails",
        "Let errors show, or choose the fallback by a condition that you can test.",
        (r"except\s+(?:Exception|RuntimeError|BaseException|TypeError)", r"torch\.(?:matmul|mm|bmm)\s*\("),
    ),
    "TRIVIAL_PROBE": Pattern(
        "is a few lines that return nothing, as a probe of the service would be",
        "Submit a kernel.",
        (r"return\s+\[\s*\]", r"return\s+None\b"),
    ),
    "INPUT_PASSTHROUGH_OUTPUT": Pattern(
        "returns an input as the output", "Compute the output.", (r"\.float\s*\(", r"return\s+\w+")
    ),
    "INPUT_REDUCTION_OUTPUT": Pattern(
        "returns a mere any or all of an input as the output",
        "Compute the output.",
        (r"torch\.(?:any|all)\s*\(",),
    ),
    "SELF_MATMUL_OUTPUT": Pattern(
        "multiplies an input with itself in place of the task",
        "Compute the output.",
        (r"\s@\s", r"torch\.(?:mm|matmul)\s*\("),
    ),
    "TORCH_COMPILE_CACHE": Pattern(
        "uses torch.compile, which is allowed", "Nothing need change.", (r"torch\.compile\s*\(",)
    ),
    "HARDCODED_SHAPES": Pattern(
        "lists the benchmark's shapes in its code, which is allowed",
        _TUNE_ONLY,
        (
            r"KERNEL_CONFIGS\s*=\s*\{",
            r"if\s+[^\n]{0,80}==\s*\(?\s*\d{3,5}",
            r"\b(?:LAUNCH|DISPATCH|KERNEL_CASE|SPECIALIZE)\s*\(\s*\d{3,5}",
            r"\(\s*\d{2,5}\s*,\s*\d{2,5}\s*(?:,\s*\d{1,5}\s*)?\)\s*:",
        ),
    ),
    "BENCHMARK_UNSAFE_ALGO_DISPATCH": Pattern(
        "takes a less exact way for inputs or shapes that look like the benchmark's",
        _TUNE_ONLY,
        (r"\bif\s+[^\n]{0,80}\d",),
    ),
    "INPUT_STRUCTURE_TRUNCATION_DISPATCH": Pattern(
        "probes the inputs and leaves out work that their structure makes needless",
        _TUNE_ONLY,
        (r"\b_?(?:probe|classify|detect_label)\w*",),
    ),
    "UNSYNC_MULTISTREAM": Pattern(
        "works on several queues without waiting for them",
        _HONEST_TIME,
        (r"getStreamFromPool|get_stream_from_pool|torch\.cuda\.Stream\s*\(",),
    ),
    "CUDA_EVENT_DISABLE_TIMING": Pattern(
        "makes events that cannot time", _HONEST_TIME, (r"cudaEventDisableTiming|disable_timing\s*=\s*True",)
    ),
    "TRUSTED_MODULE_IMPORT": Pattern(
        "imports one of the evaluator's own modules",
        "Import only `task`, for the types, and copy the function that you need.",
        (r"(?:from|import)\s+(?:reference|utils|eval|__main__)\b",),
    ),
    "MODULE_MUTATION": Pattern(
        "assigns to one of the evaluator's modules",
        _LEAVE_ALONE,
        (r"\b(?:reference|utils|eval)\.\w+\s*=", r"\bsetattr\s*\("),
    ),
    "GLOBALS_MUTATION": Pattern("writes into another function's global names", _LEAVE_ALONE, (r"__globals__",)),
    "GLOBALS_ACCESS": Pattern("reads another function's global names", _LEAVE_ALONE, (r"__globals__",)),
    "FRAME_WALK_ACCESS": Pattern(
        "walks the call stack's frames",
        _LEAVE_ALONE,
        (r"_getframe|currentframe|inspect\.stack|f_globals|f_locals|f_back",),
    ),
    "FRAME_WALK_MUTATION": Pattern(
        "walks the call stack's frames and changes what it finds",
        _LEAVE_ALONE,
        (r"f_globals|f_locals", r"_getframe|currentframe|inspect\.stack|f_back"),
    ),
    "SYS_MODULES_ACCESS": Pattern(
        "looks up loaded modules in sys.modules", _LEAVE_ALONE, (r"sys\.modules", r"\bmodules\b")
    ),
    "CODE_REPLACEMENT": Pattern("replaces a function's bytecode", _LEAVE_ALONE, (r"__code__\s*=", r"__code__")),
    "CODE_ACCESS": Pattern("reads a function's bytecode", _LEAVE_ALONE, (r"__code__",)),
    "CONFIG_CACHE_EXPLOIT": Pattern(
        "keeps a launch with its tensors per config, so that a later call replays the earlier one",
        _NO_REUSE,
        (_CACHED, _POINTER),
    ),
    "REFERENCE_PRECOMPUTE_REPLAY": Pattern(
        "computes the public cases' outputs beforehand, with the evaluator's own functions or seeds",
        _NO_REUSE,
        (r"generate_input|ref_kernel", r"(?:from|import)\s+(?:reference|utils|eval)\b", r"manual_seed"),
    ),
    "POINTER_REPLAY": Pattern(
        "returns a kept output when an input's address is the same",
        _NO_REUSE,
        (_POINTER, r"\bid\s*\(", _CACHED),
    ),
    "RESULT_BANK_REPLAY": Pattern(
        "keeps a bank of results and hands them out in turn",
        _NO_REUSE,
        (r"(?i:\w*(?:bank|ring|pool)\w*\s*\[)", _CACHED),
    ),
    "OBFUSCATED_EXEC": Pattern(
        "runs code that it decodes or assembles first",
        "Write the code out; kernels in other languages go into plain strings.",
        (r"\bexec\s*\(|\beval\s*\(", r"b64decode|fromhex|decompress|\bchr\s*\(", r"\bexec\b|\beval\b"),
    ),
    "DYNAMIC_EXECUTION": Pattern(
        "runs code from strings, or imports by a computed name",
        "Write the code out, and import by name.",
        (r"\b(?:exec|eval|compile|__import__)\s*\(", r"import_module\s*\("),
    ),
    "MODULE_RELOAD": Pattern("reloads a module", _LEAVE_ALONE, (r"reload\s*\(",)),
    "THREAD_INJECTION": Pattern(
        "starts threads or processes, whose work the clock does not see",
        _HONEST_TIME,
        (r"(?:Thread|Process|ThreadPoolExecutor|ProcessPoolExecutor)\s*\(",),
    ),
    "LAZY_TENSOR": Pattern(
        "returns a tensor of its own class, which may compute only after the clock has stopped",
        "Return a plain torch.Tensor.",
        (r"class\s+\w+\s*\([^)\n]*Tensor[^)\n]*\)", r"_make_subclass", r"__torch_(?:function|dispatch)__"),
    ),
    "TENSOR_INSTANCE_METHOD_OVERRIDE": Pattern(
        "replaces methods of the tensor that it returns",
        "Return a plain torch.Tensor.",
        (r"\.(?:__\w+__|cpu|to|item|numpy|tolist|float|clone|contiguous)\s*=", r"\bsetattr\s*\("),
    ),
    "PRECISION_DOWNGRADE": Pattern(
        "casts down and up again, which drops precision",
        "Round once, at the end, as the task's statement does.",
        (r"\.half\s*\(|\.bfloat16\s*\(|\.to\s*\([^)\n]*(?:float16|bfloat16|float8|half)",),
    ),
    "TOKEN_PASTE_CUDA_API": Pattern(
        "pastes the name of a CUDA function together in the C preprocessor, to get round the service's checks",
        "Call functions by their names, and do without those that the service bans.",
        (r"\b\w+\(\s*cuda(?:St|Ev|Me|La|De|Dr|Gr)\s*,", r"#\s*define\s+\w+\s*\([^)\n]*\)\s*\w+\s*##"),
    ),
    "RUNTIME_PACKAGE_INSTALL": Pattern(
        "installs packages, or starts processes or connections, while it runs",
        "Use what the runner has, and start nothing.",
        (
            r"pip['\"\s,]+install",
            r"(?:subprocess|os|socket)\.\w+\s*\(",
            r"\b(?:Popen|check_call|check_output|run)\s*\(",
        ),
    ),
}

UNKNOWN = Pattern(
    "matches a pattern that this mxsub has no words for",
    "Look the pattern up in KernelGuard's documentation.",
)
