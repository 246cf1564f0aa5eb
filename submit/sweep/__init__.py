"""Many configs tried on the service, one submission each, within its rate limits."""
