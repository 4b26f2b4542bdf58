"""The main job on data it makes itself: ``python -m tests.demo``."""
