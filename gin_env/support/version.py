"""The release, as stored in every file that this package writes."""

__version__ = "0.1.0"
