"""What all records of Arbiter have in common."""

from moot.protocols.arbiter.generated import Count, Name, Positive, SchemaVersion, Sha256, Share
from moot.protocols.arbiter.record import SCHEMA_VERSION, Record

__all__ = ["SCHEMA_VERSION", "Count", "Name", "Positive", "Record", "SchemaVersion", "Sha256", "Share"]
