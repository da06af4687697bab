"""Writes another version of a program: make-version.py FILE OLD NEW PLACE CODE.

FILE is an ELF file of 64 bits in little endian.  The version OLD becomes NEW, of the same length; at the address
PLACE are the bytes CODE then, both in hexadecimal.
"""
import struct
import sys

LOAD = 1


def offset_of(image, address):
    (table,) = struct.unpack_from("<Q", image, 32)
    size, n = struct.unpack_from("<HH", image, 54)
    for i in range(n):
        kind, _, offset, start, _, length = struct.unpack_from("<IIQQQQ", image, table + i * size)
        if kind == LOAD and start <= address < start + length:
            return offset + address - start
    sys.exit("make-version: no such place")


path, old, new, place, code = sys.argv[1:]
with open(path, "rb") as f:
    image = bytearray(f.read().replace(old.encode(), new.encode()))
code = bytes.fromhex(code)
if code:
    at = offset_of(image, int(place, 16))
    image[at : at + len(code)] = code
sys.stdout.buffer.write(image)
