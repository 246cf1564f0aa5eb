"""What a submission asks of the GPU: each kernel that one call of custom_kernel launches, inspected.

inspecting      runs the calls on the virtual GPU, where watchers count, and keeps what they found in the history
counted_calls   the evaluator's stand-in that makes the calls, in a process of its own
calls           what a call launched, and what is said of it as a whole
figures         the figures of a launch: names, units, and where they stand
side_by_side    two inspections and what differs between them
"""
