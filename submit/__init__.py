"""The pipeline from configs.yaml to a tested submission, a noun a module.

project    configs.yaml -> Project, its variants and their configs (config_check, fragments, shapes, relations)
render     Project, variant, GPU -> Submission: the one file
build      ... written and recorded in the history (history, version)
judgement  a file or rendering -> findings (lint/, a rule a file)
trial      a file or rendering -> a run of the task's evaluator on a device (harness/)
comparison two versions -> what changed (diff, config_table)
report     how each result looks in a terminal
"""
