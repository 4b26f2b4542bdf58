"""Settings of Kafka's own client, by the names of librdkafka, which the client without a JVM is made of. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Both know these by the same name.
_SAME = (
    "bootstrap.servers",
    "security.protocol",
    "sasl.mechanism",
    "sasl.kerberos.service.name",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    "client.id",
    "client.dns.lookup",
)
_MODULES = {
    "org.apache.kafka.common.security.plain.PlainLoginModule": ("PLAIN",),
    "org.apache.kafka.common.security.scram.ScramLoginModule": ("SCRAM-SHA-256", "SCRAM-SHA-512"),
}
_JAAS = re.compile(r"\s*([\w.]+)\s+required\b(.*?);\s*", re.DOTALL)
_OPTION = re.compile(r"""\s*([\w.]+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"';]+)""")


def without_jvm(client: Mapping[str, str]) -> dict[str, str]:
    """Return a client's settings by the names of librdkafka.

    Args:
        client: Settings by the names of Kafka's Java client, which Spark is given.

    Raises:
        ValueError: One of them cannot be said to librdkafka; the text says which, and what to write instead.
    """
    found = {key: client[key] for key in _SAME if key in client}
    if found.get("ssl.endpoint.identification.algorithm") == "":
        found["ssl.endpoint.identification.algorithm"] = "none"
    if "sasl.jaas.config" in client:
        found |= _login(client["sasl.jaas.config"], client.get("sasl.mechanism", "GSSAPI"))
    elif client.get("security.protocol", "").upper().startswith("SASL") and client.get("sasl.mechanism") != "GSSAPI":
        raise ValueError("sasl.jaas.config is missing: it holds the user's name and password")
    return found | _trusted(client) | _own(client)


def _login(jaas: str, mechanism: str) -> dict[str, str]:
    match = _JAAS.fullmatch(jaas)
    if match is None:
        raise ValueError('sasl.jaas.config is written <module> required username="..." password="...";')
    module, options = match[1], dict(_OPTION.findall(match[2]))
    if mechanism not in _MODULES.get(module, ()):
        known = ", ".join(name for names in _MODULES.values() for name in names)
        raise ValueError(f"sasl.mechanism {mechanism} with {module.rpartition('.')[2]}: freshet logs in by {known}")
    if "username" not in options or "password" not in options:
        raise ValueError("sasl.jaas.config names no username and password")
    return {"sasl.username": _bare(options["username"]), "sasl.password": _bare(options["password"])}


def _bare(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[:1] in ('"', "'") else text


def _trusted(client: Mapping[str, str]) -> dict[str, str]:
    kind = client.get("ssl.truststore.type", "JKS").upper()
    if "ssl.truststore.certificates" in client:
        return {"ssl.ca.pem": client["ssl.truststore.certificates"]}
    if "ssl.truststore.location" not in client:
        return {}
    if kind != "PEM":
        raise ValueError(f"ssl.truststore.type {kind}: without a JVM only PEM is read; write the certificates into a PEM file")
    return {"ssl.ca.location": client["ssl.truststore.location"]}


def _own(client: Mapping[str, str]) -> dict[str, str]:
    kind = client.get("ssl.keystore.type", "JKS").upper()
    if "ssl.keystore.certificate.chain" in client:
        return {
            "ssl.certificate.pem": client["ssl.keystore.certificate.chain"],
            "ssl.key.pem": client.get("ssl.keystore.key", ""),
        }
    location = client.get("ssl.keystore.location")
    if location is None:
        return {}
    if kind == "PEM":
        return {"ssl.certificate.location": location, "ssl.key.location": location}
    if kind == "PKCS12":
        return {"ssl.keystore.location": location, "ssl.keystore.password": client.get("ssl.keystore.password", "")}
    raise ValueError(f"ssl.keystore.type {kind}: without a JVM PEM and PKCS12 are read")
