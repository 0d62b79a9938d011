"""Frozen value types that cost a hook nothing.

`dataclasses` imports `inspect` and takes longer to load than the interpreter itself, and a hook
runs at every agent event. `@value` gives the same frozen, comparable, keyword-built classes in
microseconds. To everyone else they are dataclasses: `dataclasses.fields`, `asdict` and `replace`
work, because the field table is made when it is first asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_: object):
        return lambda decorator: decorator


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Make a class of annotated fields a frozen value."""
    names = tuple(cls.__annotations__)
    defaults = {name: getattr(cls, name) for name in names if name in cls.__dict__}

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

    _equip(cls, __init__, names, defaults)
    return cls


def _equip(cls: Any, init: Any, names: tuple[str, ...], defaults: dict[str, Any]) -> None:
    cls.__init__, cls.__repr__ = init, _repr
    cls.__eq__, cls.__hash__ = _equal, _hash
    cls.__setattr__ = cls.__delattr__ = _frozen
    setattr(cls, "__match_args__", names)  # noqa: B010  the checker takes this name for its own
    cls.__dataclass_fields__ = _Fields(defaults)


def _complain(cls: type, names: tuple[str, ...], fields: Any, given: Any, facts: Any) -> None:
    unknown = [name for name in facts if name not in names]
    twice = [name for name in names[: len(given)] if name in facts]
    missing = [name for name in names if name not in fields]
    for label, found in (("unknown", unknown), ("repeated", twice), ("missing", missing)):
        if found:
            raise TypeError(f"{cls.__name__}: {label} {', '.join(found)}")


def _equal(self: Any, other: object) -> bool:
    return type(other) is type(self) and bool(self.__dict__ == other.__dict__)


def _hash(self: Any) -> int:
    return hash(tuple(self.__dict__[name] for name in type(self).__match_args__))


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={self.__dict__[name]!r}" for name in type(self).__match_args__)
    return f"{type(self).__name__}({fields})"


def _frozen(self: Any, name: str, *_: object) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be changed")


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
