"""What a session's settings say of the place that freshet is installed at."""

from __future__ import annotations

import pytest

from freshet.jvm import session


@pytest.mark.parametrize("folder", ["/opt/freshet", "/opt/a project/50%", "/opt/a#b", "/opt/a?b", "/opt/50%25", "/opt/été"])
def test_where_the_log_is_configured_is_one_word_and_a_uri(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    """Kind: a URI made of a path as text, and parsed again. Spark divides Java's options at spaces, and Log4j decodes a URI."""
    monkeypatch.setattr(session, "__file__", f"{folder}/session.py")
    words = session.session_conf({}, ())["spark.driver.extraJavaOptions"].split()
    assert all(word.startswith("-") for word in words)
    (uri,) = (word.partition("=")[2] for word in words if "configurationFile" in word)
    assert uri.startswith("file:///opt/")
    assert not set(uri) & set(" #?é")
    assert ("50%25" in uri) == ("50%" in folder)
