"""Documents of the jobs as objects: what stands in the JSON of the command line is what these have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, List, Mapping


class Record:
    """A JSON object: every field is an attribute and an item, as deep as it goes. It does not change.

    Attributes that end in an underscore are no part of the document.
    """

    def __init__(self, document: Mapping[str, Any], **more: Any) -> None:
        vars(self).update({name: _value(value) for name, value in document.items()}, **more)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def to_dict(self) -> Dict[str, Any]:
        """The document, as JSON has it."""
        return {name: _plain(value) for name, value in vars(self).items() if not name.endswith("_")}

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} does not change; its {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Record) else NotImplemented

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_dict(), sort_keys=True))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if not name.endswith("_"))
        return f"{type(self).__name__}({fields})"


def _value(value: Any) -> Any:
    """Objects as records; a list of numbers, such as the two ends of an interval, as a tuple."""
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        items: List[Any] = [_value(item) for item in value]
        return tuple(items) if items and all(isinstance(item, (int, float)) for item in items) else items
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
