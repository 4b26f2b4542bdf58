"""A slot that was made before a backup: whether it has kept the log of the tables since the place that the backup names."""

from __future__ import annotations

from collections.abc import Collection

from freshet.databases.backup import not_of_log, too_old
from freshet.databases.model import Base
from freshet.databases.postgres.connection import Connection
from freshet.databases.postgres.log import Slot
from freshet.errors import StateError

#: Tables that came into the publication when the slot kept the log already, or perhaps did: of changes before that nothing is
#: told. A row of the catalogue that is older than all that the slot may look at was there before the slot.
_LATER = """
SELECT n.nspname || '.' || c.relname
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, pg_publication p, pg_replication_slots s
WHERE p.pubname = %s AND s.slot_name = %s AND (n.nspname::text, c.relname::text) IN %s
  AND NOT (age(p.xmin) > age(s.catalog_xmin) AND (p.puballtables OR EXISTS (
    SELECT 1 FROM pg_publication_rel r
    WHERE r.prpubid = p.oid AND r.prrelid = c.oid AND age(r.xmin) > age(s.catalog_xmin))))
ORDER BY 1
"""


def hold_slot(connection: Connection, slot: Slot, place: Base, tables: Collection[tuple[str, str]]) -> None:
    """Refuse a slot that has not kept the log of these tables since a place.

    Args:
        connection: The database.
        slot: The slot, with the publication of its name.
        place: What the earliest backup names.
        tables: Schema and name of each that is loaded from a backup.

    Raises:
        StateError: BACKUP_TOO_OLD or BACKUP_NOT_OF_LOG.
        FreshetError: DATABASE_UNFIT.
    """
    if place.number > slot.now().number:
        raise not_of_log(place.position, "the log of this server ends before that")
    if not slot.stands():
        raise too_old(place.position, f"there is no replication slot {slot.name}, which would have kept it")
    try:
        slot.check(place.number, tables)
    except StateError as lost:
        raise too_old(place.position, lost.message.rstrip(".")) from lost
    later = connection.rows(_LATER, (slot.name, slot.name, tuple(tables)))
    if later:
        raise too_old(
            place.position, f"{later[0][0]} came into the publication {slot.name} after the slot was made, or nobody can tell"
        )
