"""Spark's parent of Python workers, which has imported what they need before it forks them."""

import pyarrow  # noqa: F401
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import evenkeel.spark  # noqa: F401

if __name__ == "__main__":
    manager()
