"""Many configs tried on the service, one submission each, within its rate limits.

knobs         what to try, from `KNOB=V1,V2` or a file
planning      which submissions that takes: the i-th has the i-th candidate of every shape
gatekeeping   what each text has to have passed before the first leaves
attempts      how far a sweep is
carrying_out  hands in and follows, one after the other, from wherever an earlier process ended
outcome       what it came to: the best config of each shape
wording       configs in words
writing       puts those into configs.yaml
"""
