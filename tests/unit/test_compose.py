"""``docker-compose.yml``, as far as it can be held without Docker: nobody starts it here.

The kind: a server that is open to the network, a database that is set otherwise than capturing needs it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from freshet.databases.mariadb.source import _NEEDED as OF_MARIADB

FILE = Path(__file__).parents[2] / "docker-compose.yml"
COMPOSE: dict[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]


def test_images_have_a_plain_name_and_a_version() -> None:
    images = [one["image"] for one in SERVICES.values()]
    assert [one for one in images if not re.fullmatch(r"[a-z]+(/[a-z]+)?:[0-9][\w.]*", one)] == []


def test_servers_listen_on_this_machine_alone() -> None:
    ports = [port for one in SERVICES.values() for port in one.get("ports", ())]
    assert [one for one in ports if not re.fullmatch(r"127\.0\.0\.1:(\d+):\1", one)] == []


def test_databases_are_set_as_capturing_needs_them() -> None:
    assert "wal_level=logical" in SERVICES["postgres"]["command"]
    needed = {f"--{name.replace('_', '-')}={value}" for name, value in OF_MARIADB.items() if value != "ON"}
    words = SERVICES["mariadb"]["command"]
    assert needed <= set(words)
    assert any(word.startswith("--log-bin=") for word in words)


def test_what_is_named_is_there() -> None:
    volumes = {one.partition(":")[0] for service in SERVICES.values() for one in service.get("volumes", ())}
    assert volumes == set(COMPOSE["volumes"])
    assert {one for service in SERVICES.values() for one in service.get("depends_on", ())} <= set(SERVICES)
    inside = SERVICES["connect"]["environment"]["BOOTSTRAP_SERVERS"]
    assert f"INSIDE://{inside}" in SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"].split(",")
    told = set(re.findall(r"docker compose up -d (\w+)", FILE.read_text("utf-8")))
    assert told == set(SERVICES)


def test_no_password_stands_in_it() -> None:
    secret = [value for one in SERVICES.values() for name, value in one.get("environment", {}).items() if "PASSWORD" in name]
    assert set(secret) == {"${SHOP_PASSWORD:-}"}
