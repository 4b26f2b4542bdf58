"""Kafka's own client properties that stand under ``hoodie:``, as in a properties file of HoodieStreamer.

Source: the configuration reference of Kafka's Java client, which Spark reads topics with.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from freshet.hudi.keys.hudi_keys import NEAR, KeyProblem, check_value
from freshet.problems import did_you_mean, nearest

SERVERS = "bootstrap.servers"
OFFSET_RESET = "auto.offset.reset"
GROUP = "group.id"

#: Properties with the only values that they take; none where any text will do.
CLIENT_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        SERVERS: (),
        OFFSET_RESET: ("earliest", "latest", "none"),
        GROUP: (),
        "client.id": (),
        "client.dns.lookup": ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
        "security.protocol": ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        "sasl.mechanism": ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
        "sasl.jaas.config": (),
        "ssl.endpoint.identification.algorithm": ("https", ""),
        "ssl.truststore.type": ("PEM",),
        "ssl.truststore.location": (),
        "ssl.truststore.certificates": (),
        "ssl.keystore.type": ("PEM", "PKCS12"),
        "ssl.keystore.location": (),
        "ssl.keystore.password": (),
        "ssl.keystore.certificate.chain": (),
        "ssl.keystore.key": (),
        "ssl.key.password": (),
    }
)
#: Those whose values nobody may see.
SECRET_KEYS = ("sasl.jaas.config", "ssl.keystore.password", "ssl.keystore.key", "ssl.key.password")
#: Those that freshet itself acts upon; the others are for the client.
ACTED_UPON = (OFFSET_RESET, GROUP)

_OFFSETS = "Remove it: the offsets are published by the commit alone, and set for 'group.id' after it."
_SPARK = "Remove it: Spark and the plan have each a client of their own, and its default is right."
_NOT_HONOURED: Mapping[str, str] = MappingProxyType(
    {
        "enable.auto.commit": _OFFSETS,
        "auto.commit.interval.ms": _OFFSETS,
        "isolation.level": "Remove it: records of transactions that were aborted, or are still open, are never read.",
        "key.deserializer": "Remove it: the key is in _kafka.key, as bytes; of Avro, write 'source: {key: {format: avro}}'.",
        "value.deserializer": "Write 'source: {format: ...}'.",
        "max.poll.records": "Write 'hoodie.streamer.kafka.source.maxEvents': how many records a run reads.",
        "ssl.truststore.password": "Remove it: a truststore is a PEM file, which has none (ssl.truststore.type: PEM).",
        "sasl.kerberos.service.name": "Kerberos is not supported: log in by PLAIN, SCRAM or a certificate.",
        "sasl.login.callback.handler.class": "OAUTHBEARER is not supported: log in by PLAIN, SCRAM or a certificate.",
        "schema.registry.url": "Write 'source: {format: avro, schema: {registry: <address>}}'.",
        "max.partition.fetch.bytes": _SPARK,
        "fetch.max.bytes": _SPARK,
        "request.timeout.ms": _SPARK,
    }
)


def is_client_key(key: str) -> bool:
    """Say whether a key is a property of Kafka's client, or nearly one."""
    known = (*CLIENT_KEYS, *_NOT_HONOURED)
    return not key.startswith("hoodie.") and (key in known or nearest(key, known, NEAR) is not None)


def check_client_key(key: str, value: str) -> KeyProblem | None:
    """Check a property of Kafka's client.

    Args:
        key: A key for which ``is_client_key`` holds.
        value: Its value's text.

    Returns:
        ``UNKNOWN_KEY``, ``NOT_SUPPORTED`` or ``BAD_VALUE``, or None.
    """
    if key in _NOT_HONOURED:
        return KeyProblem(
            "NOT_SUPPORTED", f"'{key}' is a property of Kafka's client that freshet does not hand on.", _NOT_HONOURED[key]
        )
    if key not in CLIENT_KEYS:
        return KeyProblem(
            "UNKNOWN_KEY",
            f"unknown key '{key[:80]}': neither Hudi nor Kafka's client has it.",
            did_you_mean(key, CLIENT_KEYS, "", NEAR),
        )
    if not value.strip() and "" not in CLIENT_KEYS[key]:
        return KeyProblem("BAD_VALUE", f"'{key}' is empty.", "Write its value, or remove it.")
    return check_value(key, value, "string", CLIENT_KEYS[key])
