"""Values between python-tds and canonical text."""

import datetime
import decimal
import re
import uuid

import pytds
from pytds import tds_base, tds_types

UTC = datetime.timezone.utc


def scaled(description):
    """What cell needs of a column's description: type, size and scale."""
    _, typeid, _, size, precision, scale, _ = description
    if typeid in (tds_base.SYBMONEY, tds_base.SYBMONEY4, tds_base.SYBMONEYN):
        scale = 4
    return typeid, size, precision if scale is None else scale


def cell(value, column):
    """A column's value as an answer holds it."""
    typeid, size, scale = column
    if value is None:
        return None
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        real = typeid == tds_base.SYBREAL or (typeid == tds_base.SYBFLTN and size == 4)
        return {"f32" if real else "f64": repr(value)}
    if isinstance(value, decimal.Decimal):
        return f"{value:.{scale}f}"
    if isinstance(value, bytes):
        return "0x" + value.hex().upper()
    if isinstance(value, uuid.UUID):
        return str(value).upper()
    if isinstance(value, datetime.datetime):
        return moment(value, typeid, size, scale)
    if isinstance(value, datetime.time):
        return clock(value, scale)
    return str(value)


def moment(value, typeid, size, scale):
    small = typeid == tds_base.SYBDATETIME4 or (typeid == tds_base.SYBDATETIMN and size == 4)
    if small:
        scale = 0
    elif typeid in (tds_base.SYBDATETIME, tds_base.SYBDATETIMN):
        scale = 3
        value = value.replace(microsecond=round(value.microsecond, -3) % 1000000)
    text = f"{value.date().isoformat()} {clock(value, scale)}"
    if value.tzinfo is not None and typeid == tds_base.SYBMSDATETIMEOFFSET:
        text += " " + value.isoformat()[-6:]
    return text


def clock(value, scale):
    text = value.strftime("%H:%M:%S")
    if scale:
        text += "." + f"{value.microsecond:06d}0"[:scale]
    return text


def to_value(kind, text):
    """Canonical text as python-tds takes it."""
    name = kind.split("(")[0]
    if text is None:
        return None
    if name == "bit":
        return text == "1"
    if name in ("tinyint", "smallint", "int", "bigint"):
        return int(text)
    if name in ("decimal", "numeric", "money", "smallmoney"):
        return decimal.Decimal(text)
    if name in ("float", "real"):
        return float(text)
    if name in ("binary", "varbinary", "image"):
        return pytds.Binary(bytes.fromhex(text[2:]))
    if name == "uniqueidentifier":
        return uuid.UUID(text)
    if name == "date":
        return datetime.date.fromisoformat(text)
    if name == "time":
        return datetime.time.fromisoformat(microseconds(text))
    if name in ("smalldatetime", "datetime", "datetime2"):
        return datetime.datetime.fromisoformat(microseconds(text))
    if name == "datetimeoffset":
        return datetime.datetime.fromisoformat(microseconds(text).replace(" ", "T", 1).replace(" ", ""))
    return text


def parameter(kind, text):
    """to_value for a parameter: NULL would be nvarchar's, which is no bytes."""
    if text is None and kind.split("(")[0] in ("binary", "varbinary", "image"):
        return tds_base.Column(type=tds_types.VarBinaryMaxType(), value=None)
    return to_value(kind, text)


def microseconds(text):
    """Drops the seventh digit, which Python's classes have no place for."""
    return re.sub(r"(\.\d{6})\d", r"\1", text)


def sql_type(kind):
    """A T-SQL type as python-tds names it."""
    name, _, size = kind.rstrip(")").partition("(")
    numbers = [int(n) for n in size.split(",") if n.isdigit()]
    if size == "max":
        name += "(max)"
        numbers = []
    return {
        "int": tds_types.IntType,
        "nvarchar": tds_types.NVarCharType,
        "nvarchar(max)": tds_types.NVarCharMaxType,
        "varbinary": tds_types.VarBinaryType,
        "decimal": tds_types.DecimalType,
        "datetime2": tds_types.DateTime2Type,
    }[name](*numbers)


def column(param):
    return tds_base.Column(name=param["name"], type=sql_type(param["type"]))
