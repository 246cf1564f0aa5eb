"""What a launch asks of an MI355X, found from its machine code and from watching it run on the virtual one.

architecture    facts about the GPU that count for a launch, each with its source
opcodes         what a mnemonic is: its class, its floating-point operations, the values that it converts
resources       registers, LDS and scratch of a kernel; how many waves and workgroups fit; the rounds of a grid
instructions    instructions by class, in the code and executed
lines           the cache lines that workgroups touch, and how many of them are distinct
banks           conflicts of LDS accesses
traffic         bytes of each memory, by argument and by cache modifiers
roofline        the least time that the bytes and the operations take
findings        what is unusual, in sentences
timing          an estimate of the time: figures (with sources), traces, one compute unit simulated

counting.Counting, next to this package, is the watcher that puts them together; its notes are the entry `counts` of
the launch log.
"""
