"""Frozen value types that cost a hook nothing.

`dataclasses` imports `inspect` and takes longer to load than the interpreter itself, and a hook
runs at every agent event. `@value` gives the same frozen, comparable, keyword-built classes in
microseconds. To everyone else they are dataclasses: `dataclasses.fields`, `asdict` and `replace`
work, because the field table is made when it is first asked for.

Values read by key as well: `row["started_at"]` gives what JSON can hold, and a time as the text of local time that the
older systems stored, where `row.started_at` is an aware datetime. A `Row` is also a real dict of that, because `json`
takes nothing else; it is kept to the few values that those systems returned as dicts.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
    Plain = dict[str, Any]
else:
    Plain = dict

    def dataclass_transform(**_: object):
        return lambda decorator: decorator


class Row(Plain):
    """The base of a value that is also the dict of what it says."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{type(self).__name__} is frozen: make a dict of it to change it")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return _built, (type(self), self.__dict__)


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Make a class of annotated fields a frozen value."""
    names = tuple(cls.__annotations__)
    defaults = {name: getattr(cls, name) for name in names if name in cls.__dict__}
    is_row = issubclass(cls, Row)

    def __init__(self: Any, *given: Any, **facts: Any) -> None:  # noqa: N807
        fields = self.__dict__
        fields.update(defaults)
        if given:
            if len(given) > len(names):
                raise TypeError(f"{cls.__name__} takes {len(names)} fields, got {len(given)}")
            fields.update(zip(names, given, strict=False))
        fields.update(facts)
        if len(fields) != len(names) or len(given) + len(facts) > len(fields):
            _complain(cls, names, fields, given, facts)
        if is_row:
            Plain.update(self, {name: _plain(fields[name]) for name in names})

    _equip(cls, __init__, names, defaults)
    return cls


def _equip(cls: Any, init: Any, names: tuple[str, ...], defaults: dict[str, Any]) -> None:
    cls.__init__, cls.__repr__ = init, _repr
    cls.__eq__, cls.__ne__, cls.__hash__ = _equal, object.__ne__, _hash
    cls.__setattr__ = cls.__delattr__ = _frozen
    setattr(cls, "__match_args__", names)  # noqa: B010  the checker takes this name for its own
    cls.__dataclass_fields__ = _Fields(defaults)
    if not issubclass(cls, Row):
        reading = {"__getitem__": _item, "__iter__": _iterate, "keys": _keys, "get": _get}
        for name in reading.keys() - vars(cls).keys():  # what a class says itself stays
            setattr(cls, name, reading[name])


def _complain(cls: type, names: tuple[str, ...], fields: Any, given: Any, facts: Any) -> None:
    unknown = [name for name in facts if name not in names]
    twice = [name for name in names[: len(given)] if name in facts]
    missing = [name for name in names if name not in fields]
    for label, found in (("unknown", unknown), ("repeated", twice), ("missing", missing)):
        if found:
            raise TypeError(f"{cls.__name__}: {label} {', '.join(found)}")


def _equal(self: Any, other: object) -> bool:
    if type(other) is type(self):
        return bool(self.__dict__ == other.__dict__)
    return isinstance(self, Row) and Plain.__eq__(self, other) is True


def _hash(self: Any) -> int:
    return hash(tuple(self.__dict__[name] for name in type(self).__match_args__))


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={self.__dict__[name]!r}" for name in type(self).__match_args__)
    return f"{type(self).__name__}({fields})"


def _frozen(self: Any, name: str, *_: object) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be changed")


def _built(cls: Any, fields: dict[str, Any]) -> Any:
    return cls(**fields)


def _item(self: Any, name: str) -> Any:
    return _plain(self.__dict__[name])


def _iterate(self: Any) -> Any:
    return iter(type(self).__match_args__)


def _keys(self: Any) -> Any:
    return type(self).__match_args__


def _get(self: Any, name: str, default: Any = None) -> Any:
    return _plain(self.__dict__.get(name, default))


def _plain(given: Any) -> Any:
    """Return a field as JSON can hold it."""
    if given is None or type(given) in (str, int, bool, float):
        return given
    if hasattr(given, "isoformat"):
        return given.astimezone().replace(tzinfo=None).isoformat()
    if isinstance(given, dict):
        return given if isinstance(given, Row) else {key: _plain(each) for key, each in given.items()}
    if isinstance(given, list | tuple):
        return [_plain(each) for each in given]
    return dict(given) if hasattr(type(given), "__match_args__") else given


class _Fields:
    """The field table `dataclasses` looks for, made on first use."""

    def __init__(self, defaults: dict[str, Any]) -> None:
        self.defaults = defaults

    def __get__(self, instance: object, owner: Any) -> Any:
        from dataclasses import field, make_dataclass

        specs = [
            (name, kind, field(default=self.defaults[name])) if name in self.defaults else (name, kind)
            for name, kind in owner.__annotations__.items()
        ]
        table = vars(make_dataclass(owner.__name__, specs, kw_only=True))["__dataclass_fields__"]
        owner.__dataclass_fields__ = table
        return table
