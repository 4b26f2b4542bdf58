"""freshet: incremental ETL on Apache Hudi."""

__version__ = "0.1.0"
