"""What happens to a version between `mxsub submit` and its verdict.

submitting   the steps of `mxsub submit`, one after the other
gate         what has to be true before it may leave: lint, and local runs of this very text
account      which service, and who is asking
sending      the request that hands it in, exactly once
streaming    the same for a profile, whose request lasts until its result is there
following    asks for news until the verdict is known
observing    what the service's answer adds to the history
verdict      what the service's status and runs come to
placing      a submission's place in the ranking
catching_up  what is new about submissions that nobody follows any more
pace         how often to ask, and for how long
"""
