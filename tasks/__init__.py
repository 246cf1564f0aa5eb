"""Problem folders in KernelBot's form: task.yml and the files that it names."""
