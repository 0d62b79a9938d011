"""Frozen value types that load fast enough for hooks.

`dataclasses` imports `inspect` and takes longer to load than the interpreter itself, and a hook
runs at every agent event. `@value` gives the same frozen, comparable, keyword-built classes in
microseconds. To other code they are dataclasses: `dataclasses.fields`, `asdict` and `replace`
work, because the field table is built on first use.

Values can also be read by key: `row["started_at"]` gives a JSON value, with times as local time in the text format of
the older systems, while `row.started_at` is an aware datetime. A `Row` is also a real dict of these, because `json`
accepts nothing else; only the few values that those systems returned as dicts are rows.
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
    """The base of a value that is also a dict of its fields."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{type(self).__name__} is frozen; make a dict of it to change it")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return _rebuild_row, (type(self), self.__dict__)


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
            _raise_bad_fields(cls, names, fields, given, facts)
        if is_row:
            Plain.update(self, {name: _to_json_value(fields[name]) for name in names})

    _add_methods(cls, __init__, names, defaults)
    return cls


def _add_methods(cls: Any, init: Any, names: tuple[str, ...], defaults: dict[str, Any]) -> None:
    cls.__init__, cls.__repr__ = init, _format_value
    cls.__eq__, cls.__ne__, cls.__hash__ = _compare_values, object.__ne__, _hash_value
    cls.__setattr__ = cls.__delattr__ = _refuse_change
    setattr(cls, "__match_args__", names)  # noqa: B010  the checker takes this name for its own
    cls.__dataclass_fields__ = _LazyFieldTable(defaults)
    if not issubclass(cls, Row):
        reading = {"__getitem__": _get_item, "__iter__": _iterate_names, "keys": _list_names, "get": _get_or_default}
        for name in reading.keys() - vars(cls).keys():  # methods the class defines itself stay
            setattr(cls, name, reading[name])


def _raise_bad_fields(cls: type, names: tuple[str, ...], fields: Any, values: Any, facts: Any) -> None:
    unknown = [name for name in facts if name not in names]
    twice = [name for name in names[: len(values)] if name in facts]
    missing = [name for name in names if name not in fields]
    for label, wrong_names in (("unknown", unknown), ("repeated", twice), ("missing", missing)):
        if wrong_names:
            raise TypeError(f"{cls.__name__}: {label} {', '.join(wrong_names)}")


def _compare_values(self: Any, other: object) -> bool:
    if type(other) is type(self):
        return bool(self.__dict__ == other.__dict__)
    return isinstance(self, Row) and Plain.__eq__(self, other) is True


def _hash_value(self: Any) -> int:
    return hash(tuple(self.__dict__[name] for name in type(self).__match_args__))


def _format_value(self: Any) -> str:
    fields = ", ".join(f"{name}={self.__dict__[name]!r}" for name in type(self).__match_args__)
    return f"{type(self).__name__}({fields})"


def _refuse_change(self: Any, name: str, *_: object) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be changed")


def _rebuild_row(cls: Any, fields: dict[str, Any]) -> Any:
    return cls(**fields)


def _get_item(self: Any, name: str) -> Any:
    return _to_json_value(self.__dict__[name])


def _iterate_names(self: Any) -> Any:
    return iter(type(self).__match_args__)


def _list_names(self: Any) -> Any:
    return type(self).__match_args__


def _get_or_default(self: Any, name: str, default: Any = None) -> Any:
    return _to_json_value(self.__dict__.get(name, default))


def _to_json_value(content: Any) -> Any:
    """Return a field as a JSON value."""
    if content is None or type(content) in (str, int, bool, float):
        return content
    if hasattr(content, "isoformat"):
        return content.astimezone().replace(tzinfo=None).isoformat()
    if isinstance(content, dict):
        return content if isinstance(content, Row) else {key: _to_json_value(item) for key, item in content.items()}
    if isinstance(content, list | tuple):
        return [_to_json_value(item) for item in content]
    return dict(content) if hasattr(type(content), "__match_args__") else content


class _LazyFieldTable:
    """The field table that `dataclasses` looks for, built on first use."""

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
