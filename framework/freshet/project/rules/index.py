"""Rules of the target's index: what it needs, and what would duplicate rows."""

from __future__ import annotations

import re
from collections.abc import Mapping

from freshet.hudi.keys import options
from freshet.problems import did_you_mean
from freshet.project.model.pipeline import HBaseSpec, IndexSpec, TableSpec
from freshet.project.rules.settings import SettingRules
from freshet.project.rules.shares import Shares, cluster_of, number_of, znode_of
from freshet.project.syntax.ddl import Setting

_INDEXES = ("BUCKET", "RECORD_INDEX", "HBASE")
_HBASE_NAME = re.compile(r"([A-Za-z0-9_]+:)?[A-Za-z0-9_][A-Za-z0-9_.-]*")
_NEEDED = (
    (options.HBASE_QUORUM, "ZooKeeper's hosts", "zk1.example.com,zk2.example.com"),
    (options.HBASE_PORT, "ZooKeeper's client port", "2181"),
    (options.HBASE_TABLE, "the name of its table", "index_of_trips"),
)
# Hudi's own default, which no cluster falls over by; `freshet index benchmark` measures what one holds.
_SERVER_RATE = 1000
_KERBEROS = {
    "hoodie.index.hbase.kerberos.user.principal": "freshet.kerberos.principal",
    "hoodie.index.hbase.kerberos.user.keytab": "freshet.kerberos.keytab",
    "hoodie.index.hbase.master.kerberos.principal": "hbase.master.kerberos.principal",
    "hoodie.index.hbase.regionserver.kerberos.principal": "hbase.regionserver.kerberos.principal",
}


class IndexRules(SettingRules):
    """Checks of one pipeline's index."""

    def index(
        self,
        name_of: str,
        table: TableSpec,
        shares: Shares,
        spark: Mapping[str, str],
        *,
        partition_is_stable: bool,
    ) -> IndexSpec:
        """Return the index with its immutable parameters, after refusing what would duplicate rows.

        Args:
            name_of: The pipeline.
            table: The target.
            shares: Who else has an index on which HBase cluster.
            spark: The pipeline's Spark settings; HBase's client is told those that begin with ``spark.hadoop.``.
            partition_is_stable: The pipeline's promise that a key's partition never changes.
        """
        setting = self.setting(options.INDEX_TYPE)
        name = setting.value.upper() or "BUCKET"
        if name in options.OTHER_INDEXES:
            self.add(
                setting,
                "NOT_SUPPORTED",
                f"The index {name} is not supported.",
                "Write BUCKET, or RECORD_INDEX or HBASE where a key's partition may change.",
            )
        elif name not in _INDEXES:
            self.add(setting, "BAD_VALUE", f"'{name[:40]}' is not an index type.", did_you_mean(name, _INDEXES))
        if name == "RECORD_INDEX":
            return self._record_index()
        if name == "HBASE":
            return self._hbase(setting, name_of, shares, spark)
        return self._bucket(table, setting, partition_is_stable=partition_is_stable)

    def _record_index(self) -> IndexSpec:
        for key, effect in (
            (
                options.RECORD_INDEX_MOVES,
                "a row whose partition changes would stay in the old one under a changed column",
            ),
            (options.RECORD_INDEX_ENABLE, "the index would not be kept"),
            (options.METADATA_ENABLE, "the index lies in the metadata table and would not be kept"),
        ):
            if self.setting(key).value.lower() == "false":
                self.add(
                    self.setting(key),
                    "CONFLICTING_SETTING",
                    f"{key}=false with RECORD_INDEX: {effect}.",
                    "Remove the line.",
                )
        return IndexSpec("RECORD_INDEX", {options.RECORD_INDEX_ENABLE: "true", options.RECORD_INDEX_MOVES: "true"})

    def _hbase(self, index: Setting, name_of: str, shares: Shares, spark: Mapping[str, str]) -> IndexSpec:
        if index.file == self.ddl.file:
            self.add(
                index,
                "CONFLICTING_SETTING",
                "An HBASE index is declared in the YAML, where pipelines share a cluster.",
                f"Move {options.INDEX_TYPE} there.",
            )
        for key, what, example in _NEEDED:
            if not self.setting(key).value.strip():
                self.add(index, "MISSING_HBASE_SETTING", f"The HBASE index needs {what}.", f"Write '{key}: {example}'.")
        for key, effect in (
            (options.HBASE_MOVES, "a row whose partition changes would stay in the old one under a changed column"),
            (options.HBASE_ROLLBACK, "entries of a failed commit would stay, and mislead later runs"),
        ):
            if self.setting(key).value.lower() == "false":
                self.add(self.setting(key), "CONFLICTING_SETTING", f"{key}=false: {effect}.", "Remove the line.")
        table, port = self.setting(options.HBASE_TABLE), self.setting(options.HBASE_PORT)
        if table.value and not _HBASE_NAME.fullmatch(table.value):
            self.add(
                table,
                "BAD_VALUE",
                f"'{table.value[:80]}' cannot be the name of an HBase table.",
                "Use letters, digits, '_', '-' and '.', after an optional 'namespace:'.",
            )
        share = self.setting(options.HBASE_SHARE)
        if share.value and not 0 < (number_of(share.value) or 0) <= 1:
            self.add(share, "BAD_VALUE", f"{options.HBASE_SHARE} is a share of the cluster, between 0 and 1.", "Write 0.2.")
        else:
            self._sum_of_shares(share if share.value else index, shares)
        rate = self.setting(options.HBASE_SERVER_RATE)
        if (number_of(rate.value) if rate.value else 1) == 0 or rate.value.startswith("-"):
            self.add(
                rate,
                "BAD_VALUE",
                f"{options.HBASE_SERVER_RATE} must be at least 1.",
                f"Measure it: freshet index benchmark {name_of}",
            )
        hbase = HBaseSpec(
            quorum=self.setting(options.HBASE_QUORUM).value,
            port=int(number_of(port.value) or 0),
            znode=znode_of(self.settings),
            table=table.value,
            server_rate=max(1, int(number_of(rate.value) or _SERVER_RATE)),
            shares=shares.get(cluster_of(self.settings), {}),
            client=self._client(spark),
        )
        return IndexSpec("HBASE", {options.HBASE_TABLE: table.value}, hbase)

    def _sum_of_shares(self, at: Setting, shares: Shares) -> None:
        cluster = cluster_of(self.settings)
        declared = {name: share for name, (_, share) in shares.get(cluster, {}).items() if share is not None}
        rest = sorted(name for name, (_, share) in shares.get(cluster, {}).items() if share is None)
        whole = sum(declared.values())
        words = ", ".join(f"{name} {share:g}" for name, share in sorted(declared.items()))
        if round(whole, 6) > 1:
            self.add(
                at,
                "SHARES_EXCEED_CLUSTER",
                f"The shares of {cluster} come to {whole:g} of it: {words}.",
                f"Lower {options.HBASE_SHARE}; without the key a pipeline's rows decide.",
            )
        elif rest and round(whole, 6) == 1:
            self.add(
                at,
                "SHARES_EXCEED_CLUSTER",
                f"The shares of {cluster} come to all of it ({words}), and nothing is left for {', '.join(rest)}.",
                f"Lower {options.HBASE_SHARE}; without the key a pipeline's rows decide.",
            )

    def _client(self, spark: Mapping[str, str]) -> dict[str, str]:
        head = "spark.hadoop."
        client = {
            key.removeprefix(head): value
            for key, value in spark.items()
            if key.startswith((f"{head}hbase.", f"{head}zookeeper."))
        }
        if self.setting("hoodie.index.hbase.security.authentication").value.lower() == "kerberos":
            for key, name in _KERBEROS.items():
                at = self.setting(key)
                client[name] = at.value
                if not at.value:
                    self.add(
                        self.setting("hoodie.index.hbase.security.authentication"),
                        "MISSING_HBASE_SETTING",
                        f"Kerberos needs {key}.",
                        f"Write '{key}: ...'.",
                    )
            client |= {
                "hbase.security.authentication": "kerberos",
                "hadoop.security.authentication": "kerberos",
                "hbase.security.authorization": "true",
            }
        return client

    def _bucket(self, table: TableSpec, index: Setting, *, partition_is_stable: bool) -> IndexSpec:
        if index.file.startswith("configs/"):
            # The config's default is right for other tables; this pipeline is where it must be answered.
            index = Setting(value=index.value, file=self.place.file, line=self.place.line)
        in_key = set(table.partition_by) <= set(table.record_key)
        if table.partition_by and table.record_key and not in_key and not partition_is_stable:
            self.add(
                index,
                "PARTITION_MAY_CHANGE",
                f"A bucket index looks for a key in one partition only; a key that moves to another"
                f" {', '.join(table.partition_by)} would leave two rows.",
                "Write 'hoodie.index.type: RECORD_INDEX', or add the partition columns to the record key,"
                " or promise 'partition_is_stable: true'.",
            )
        count = self.setting(options.BUCKET_COUNT)
        if not count.value:
            self.add(
                index,
                "MISSING_BUCKET_COUNT",
                "The bucket index needs a bucket count, which can never change later.",
                f"Write '{options.BUCKET_COUNT}: 4' (aim at 100 MB to 1 GB per bucket and partition).",
            )
        elif re.fullmatch(r"[+-]?[0-9]{1,19}", count.value) and int(count.value) < 1:
            self.add(count, "BAD_VALUE", f"{options.BUCKET_COUNT} must be at least 1.", "Write 4.")
        engine = self.setting(options.BUCKET_ENGINE)
        if engine.value.upper() not in ("", "SIMPLE"):
            self.add(
                engine,
                "NOT_SUPPORTED",
                f"The bucket engine {engine.value[:40]} is not supported.",
                "Write SIMPLE, or remove the line.",
            )
        for key in ("hoodie.clustering.inline", "hoodie.clustering.schedule.inline"):
            if self.setting(key).value.lower() == "true":
                self.add(
                    self.setting(key),
                    "CONFLICTING_SETTING",
                    f"{key}=true with BUCKET: Hudi plans a clustering that nothing carries out, and later writes wait for it.",
                    "Remove the line: a row's bucket says in which file it lies.",
                )
        field = self.setting(options.BUCKET_FIELD)
        hashed = [column.name for column in self.columns(field, "bucket hash field")] if field.value else list(table.record_key)
        outside = [name for name in hashed if name not in table.record_key]
        if outside and table.record_key:
            self.add(
                field,
                "BUCKET_FIELD_NOT_IN_KEY",
                f"The bucket hash field '{outside[0]}' is outside the record key, so one key could have two buckets.",
                f"Choose from: {', '.join(table.record_key)}.",
            )
        return IndexSpec(
            "BUCKET",
            {
                options.BUCKET_COUNT: count.value,
                options.BUCKET_FIELD: ",".join(hashed),
                options.BUCKET_ENGINE: "SIMPLE",
            },
        )
