"""Damage to rule tables and to whole files, one kind each.

A rule table is a u32 size, a double array of that many bytes, and replacements
that each end with a NUL.
"""

import hashlib
import struct

import handmade

SIZE_BYTES = 4


def pseudo_random(name, size):
    """A fixed byte string that looks random: SHA-256 of a counter."""
    blocks = (hashlib.sha256(f"{name} {i}".encode()).digest() for i in range(size // 32 + 1))
    return b"".join(blocks)[:size]


def put_u32(data, at, value):
    return data[:at] + struct.pack("<I", value) + data[at + 4 :]


def fuzz(table):
    """Change 20 bytes anywhere behind the size, at places that are always the same."""
    data = bytearray(table)
    for i in range(20):
        place, value = struct.unpack("<QB", pseudo_random(f"cm_fuzz {i}", 9))
        data[SIZE_BYTES + place % (len(data) - SIZE_BYTES)] = value
    return bytes(data)


def damaged_tables(table):
    """Return {model name: damaged rule table}."""
    (array_size,) = struct.unpack_from("<I", table)
    (root,) = struct.unpack_from("<I", table, SIZE_BYTES)
    values_at = SIZE_BYTES + array_size
    array, values = table[SIZE_BYTES:values_at], table[values_at:]
    offset_bits = 0x003F_FFFF << 10  # of a unit: the place of its children
    return {
        "cm_size0": put_u32(table, 0, 0),
        "cm_sizehuge": put_u32(table, 0, 0xFFFF_FFF0),
        "cm_sizeodd": put_u32(table, 0, array_size - 2),
        "cm_short": table[:3],
        "cm_trunc": table[: len(table) // 2],
        "cm_no_final_nul": table[:-1],
        "cm_nonuls": table[:values_at] + values.replace(b"\0", b"A"),
        "cm_novalues": table[:values_at],
        "cm_shortvalues": table[:values_at] + values[: len(values) // 2] + b"\0",
        "cm_badutf8": table[:values_at] + values.replace(b" \0", b"\xff\0"),
        "cm_rootoff": put_u32(table, SIZE_BYTES, root & 0x3FF | 0x1F_FFF0 << 10),
        "cm_rootmsb": put_u32(table, SIZE_BYTES, root & 0x3FF | offset_bits),
        "cm_halfarray": struct.pack("<I", array_size // 2) + array[: array_size // 2] + values,
        "cm_fuzz": fuzz(table),
    }


def damaged_table_models(table):
    """The damaged tables in a model of two letters; `cm_intact` is the control."""
    pieces = [*handmade.SPECIALS, handmade.A, handmade.B, handmade.SPACE]
    tables = {"cm_intact": table, **damaged_tables(table)}
    return {
        name: handmade.prose(pieces, normalizer="user_defined", charsmap=damaged)
        for name, damaged in tables.items()
    }


def damaged_files(model):
    """Return {name: bytes}: a whole model file, damaged."""
    return {
        "bad_trunc": model[: len(model) // 2],
        "bad_trunc1": model[:-1],
        "trail_zero": model + b"\0" * 8,
        "trail_garbage": model + b"\xff" * 16,
        # Field 2047, which no release knows, length-delimited: must be skipped.
        "trail_unknown_field": model + b"\xfa\x7f\x03abc",
        # A protobuf reader merges the two copies: every piece comes twice.
        "twice": model + model,
        "bad_random": pseudo_random("bad_random", 4096),
    }
