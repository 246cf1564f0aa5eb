"""What happens to a version between `mxsub submit` and its verdict, and what a service knows of it later.

submitting   the steps of `mxsub submit`, one after the other
gate         what has to be true before it may leave: lint, and local runs of this very text
account      which service, and who is asking
sending      the request that hands it in, exactly once
streaming    the same for a profile, whose request lasts until its result is there
following    asks for news until the verdict is known
observing    what the service's answer adds to the history
verdict      what the service's status and runs come to
placing      a submission's place in the ranking
standing     a board's ranking and the user's place in it
catching_up  what is new about submissions that nobody follows any more
merging      submissions that were made elsewhere, taken into the history
pulling      a submission's text, fetched as a version
deleting     a submission, deleted from the service and kept here
pace         how often to ask, and for how long
"""
