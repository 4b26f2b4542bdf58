"""What can be a credential is cut out of texts that were kept earlier.

The kind: a secret that has been changed since, which no redactor knows, printed with what a record or a commit kept. By its
place: the user of an address, what stands behind its question mark, the value beside a name that tells of a secret. By its
form: ids of AWS's keys, tokens that say whose they are, JSON web tokens, private keys.
"""

from __future__ import annotations

import pytest

from freshet.credentials import bare_path, tree_without_credentials, without_credentials

OLD = "kumQuat77x9violet"


@pytest.mark.parametrize(
    "text",
    [
        "Failed: s3a://AKuser:{}@lake/raw/trips is gone",
        "s3a://AKuser:ab/{}+c@lake/raw",
        "s3a://AKuser:a@b{}@lake/raw",
        "cannot be read: s3a://AKuser:{} …",
        "https://{}@host/x.git",
        "abfss://box:{}@acc.dfs.core.windows.net/raw",
        "jdbc:postgresql://user:{}@db:5432/x",
        "https://acc.blob.core.windows.net/box/x?sv=2022&sig={}",
        "wasbs://box@acc.blob.core.windows.net/x?{}",
        "https://host/cb#access={}",
        "https://host/cb?x=1 (token={})",
        "'hive://u:{}@h/x' refused",
        "fs.s3a.secret.key={}",
        "fs.azure.account.key.acc.dfs.core.windows.net={}",
        "fs.azure.sas.fixed.token.acc: {}",
        "Unable to log in: password={}, host=db",
        "password = '{} with blanks'",
        'sasl.jaas.config=Plain required username="u" password="{}";',
        '{{"aws_secret_access_key": "{}", "x": 1}}',
        '{{\\"secret\\": \\"{}\\"}}',
        "AccountKey={};EndpointSuffix=core.windows.net",
        "SharedAccessSignature=sv=1&sig={}",
        "Authorization: Bearer {}",
        "authorization: AWS4-HMAC-SHA256 {}",
        "Bearer {}",
        "X-Amz-Signature={}&x=1",
        "x-amz-security-token:{}",
        "run --password {} --x",
        "curl -token '{}' x",
        "dbuser:{}@db.internal is down",
        "ghp_{0}{0}",
        "eyJhbGciOi.{}.x",
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n{}",
        "client_secret={}",
        "api_key: {}",
        "apiKey={}",
        "PWD={}",
        "pass={}",
        "passphrase: {}",
        "connectionString={}",
        "Map(secret.key -> x, fs.s3a.access.key={})",
    ],
)
def test_a_credential_is_cut(text: str) -> None:
    said = without_credentials(text.format(OLD))
    assert [OLD[at : at + 4] for at in range(len(OLD) - 3) if OLD[at : at + 4] in said] == [], said


def test_ids_of_keys_are_cut() -> None:
    for key in ("AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"):
        assert key[4:12] not in without_credentials(f"The AWS Access Key Id {key} does not exist")
    assert "A" * 20 not in without_credentials("x " + "A" * 86 + "== y")


@pytest.mark.parametrize(
    "text",
    [
        "SOURCE_MISSING: payments: no Hudi table at /lake/raw/events.",
        "payments: the checkpoint belongs to s3a://lake/raw/older, and the pipeline reads s3a://lake/raw/events.",
        "abfss://box@acc.dfs.core.windows.net/raw/events",
        "hdfs://namenode:8020/raw/events",
        "cannot be read: hdfs://namenode:8020/raw/eve …",
        "pid 17 on host.a was killed, while reading 3 partitions of raw.tips",
        "checks: 2 passed, no_negative failed (4 rows)",
        "2026-01-05T00:00:00/2026-01-07T00:00:00/1d",
        "the key id:1,at:2 stands twice",
        "column amount is 12.5, which does not fit into decimal(3,1), in the row with id=7",
        "Run the same command: freshet run payments --full-refresh",
        "run 20260801101500123-8f0e1d2c",
        "hoodie.datasource.write.recordkey.field=id",
        "author: bob, signal 9, tokenizer, passed: 3, assign=1, keyed by a",
        "a@b.example wrote it",
        "streamer.checkpoint.key.v2: 20260801101500010",
    ],
)
def test_what_is_none_stays(text: str) -> None:
    assert without_credentials(text) == text


def test_a_path_keeps_what_tells_the_table() -> None:
    assert bare_path("s3a://AK:a/b@c@lake/raw/my events?x=1#y") == "s3a://...@lake/raw/my events?..."
    assert bare_path("abfss://box@acc.net/raw") == "abfss://box@acc.net/raw"
    assert bare_path("s3a://lake/raw#frag") == "s3a://lake/raw#..."
    assert bare_path("/lake/raw/events") == "/lake/raw/events"
    assert bare_path("/lake/token=abc/events") == "/lake/token=..."


def test_a_tree() -> None:
    tree = {"reason": f"token={OLD}", "rows": {"inserts": 3}, f"pass={OLD}": [f"s3a://a:{OLD}@b", None, 1.5, True]}
    found = tree_without_credentials(tree)
    assert OLD not in str(found)
    assert found["rows"] == {"inserts": 3}
    assert tree_without_credentials({"fs.s3a.secret.key": OLD, "name": "x"}) == {"fs.s3a.secret.key": "...", "name": "x"}


def test_a_long_text_takes_no_time() -> None:
    """What somebody put into a record's place: each pattern begins anew at every sign of it."""
    for text in (
        "a" * 200_000,
        "a://" * 50_000,
        "secret" * 40_000,
        "a:b@" * 50_000,
        "--token " * 25_000,
        "-----BEGIN " * 20_000,
    ):
        without_credentials(text)
