"""Read data files to see whether they can be read, in a process of its own, which a broken file may end."""

from __future__ import annotations

from collections.abc import Iterable

from freshet.sources.hudi.read.frames import broken_frame


def check_files(asked: Iterable[str]) -> None:
    """Read files one after the other until one cannot be read, and print that one.

    Args:
        asked: A path in each line.
    """
    for line in asked:
        file = line.rstrip("\n")
        print(f"? {file}", flush=True)
        said = damage_of(file)
        if said:
            print(f"! {file}\t{' '.join(said.split())[:200]}", flush=True)
            return


def damage_of(file: str) -> str:
    """Return why a data file cannot be read; empty where it can, or is not there any more.

    Args:
        file: A Parquet file or a log of this machine's own disk.
    """
    if ".log." in file.rpartition("/")[2]:
        try:
            return broken_frame(file)
        except OSError:
            return ""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(file, page_checksum_verification=True) as reader:
            for _ in reader.iter_batches():
                pass
    except (FileNotFoundError, PermissionError):
        return ""
    except (ArrowException, OSError, ValueError, MemoryError) as error:
        return str(error) or type(error).__name__
    return ""
