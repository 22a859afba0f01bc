"""What is timed, and the timing."""
