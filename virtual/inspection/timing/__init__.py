"""An estimate of how long a launch takes on an MI355X, from its machine code. docs/time-model.md explains it.

figures    every constant of the model, with its range and its source
costs      what each instruction costs: the unit that it keeps, and for how long
trace      what the waves of one workgroup ran, and which lines each access found where
unit       one compute unit simulated: waves that issue in order, units that they share, counters that they wait for
estimate   a launch, from the trace of a workgroup and from what the whole launch moves
"""
