"""Input files for `compare-bits` and `compare-benchmarks`, by the standard library alone.

Every file follows from its name: a generator of its own, seeded by that name, so that a file that is added or left out changes no other.
"""

import io
import math
import os
import random
import struct
import zipfile
from array import array

CODES = {"f": "<f4", "d": "<f8", "q": "<i8"}


def npy(values, columns=None):
    """The bytes of a .npy file: a vector, or a matrix in C order."""
    rows = len(values) if columns is None else len(values) // columns
    shape = f"({rows},)" if columns is None else f"({rows}, {columns})"
    header = f"{{'descr': '{CODES[values.typecode]}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values.tobytes()


def rows(name, count, classes, sharpness, drift=0.0, kind="f", steps=None):
    """`count` rows of a softmax whose drawn class leads by `sharpness`, and the classes drawn.

    `drift` takes from that lead in the upper half of the classes and draws them more often: a model that is less sure and a label shift in one.
    `steps` rounds the probabilities to multiples of 1/steps, so that there are ties and zeros.
    """
    draw = random.Random(name)
    gauss, uniform = draw.gauss, draw.random
    values, labels, logits = array(kind), array("q"), array("d")
    for _ in range(count):
        label = int(uniform() * classes)
        if drift and uniform() < drift:
            label = classes - 1 - int(uniform() * (classes // 2 + 1))
        lead = sharpness * (1.0 - drift if 2 * label >= classes else 1.0)
        row = [gauss(0.0, 1.0) for _ in range(classes)]
        row[label] += lead
        largest = max(row)
        powers = [math.exp(2.0 * (value - largest)) for value in row]
        total = sum(powers)
        row_values = [power / total for power in powers]
        if steps:
            row_values = [math.floor(value * steps) / steps for value in row_values]
            row_values[powers.index(max(powers))] += 1.0 - sum(row_values)
        values.extend(row_values)
        labels.append(label)
        logits.extend([2.0 * value for value in row])
    return values, labels, logits


def features(name, labels, columns, offset):
    """Features of points: noise around a place that depends on the label, moved by `offset`."""
    draw = random.Random(name)
    return array("d", (draw.gauss(offset + 0.3 * ((label + j) % 3), 1.0) for label in labels for j in range(columns)))


def positive(name, count):
    """Weights or likelihood ratios: log-normal."""
    draw = random.Random(name)
    return array("d", (math.exp(draw.gauss(0.0, 0.5)) for _ in range(count)))


# world: classes, sharpness, drift of the target, kind, steps, rows of calibration, target and test data
WORLDS = {
    "small": (10, 2.2, 0.5, "f", None, 1000, 3000, 2000),
    "calm": (10, 2.2, 0.0, "f", None, 1000, 3000, 2000),
    "double": (7, 1.6, 0.4, "d", None, 301, 999, 500),
    "ties": (5, 1.8, 0.4, "d", 16, 200, 400, 300),
    "tiny": (3, 1.5, 0.3, "d", None, 25, 7, 40),
    # The labeled side of these is more than the 10 000 predictions that a shift test keeps.
    "labeled": (4, 1.8, 0.1, "f", None, 12_000, 11_000, 500),
    # Just below 2^21 cells, where every candidate is kept; above, where they are sketched.
    "wide": (100, 3.0, 0.4, "f", None, 1000, 20_000, 2000),
    "large": (100, 3.0, 0.4, "f", None, 1000, 30_000, 1000),
    # More than 2^20 rows, where confidences are counted instead of kept.
    "long": (3, 1.5, 0.3, "f", None, 500, 1_100_000, 500),
}


def write(path, data):
    """Writes a file in one step, so that an interrupted run leaves no half of one."""
    with open(path + ".part", "wb") as file:
        file.write(data)
    os.replace(path + ".part", path)


def make(folder, world):
    """The files of one world in `folder`, unless they are there."""
    if os.path.exists(os.path.join(folder, world, "complete")):
        return
    os.makedirs(os.path.join(folder, world), exist_ok=True)
    classes, sharpness, drift, kind, steps, n, m, k = WORLDS[world]
    for part, count, moved in (("cal", n, 0.0), ("target", m, drift), ("test", k, drift)):
        base = os.path.join(folder, world, part)
        values, labels, logits = rows(f"{world} {part}", count, classes, sharpness, moved, kind, steps)
        write(base + ".npy", npy(values, classes))
        write(base + "_labels.npy", npy(labels))
        if count > 5000:
            continue
        write(base + "_logits.npy", npy(logits, classes))
        write(base + "_features.npy", npy(features(f"{world} {part} features", labels, 4, moved), 4))
        write(base + "_positive.npy", npy(positive(f"{world} {part} positive", count)))
        lines = (",".join(map(repr, values[i : i + classes])) for i in range(0, len(values), classes))
        names = ",".join(f"class_{label}" for label in range(classes))
        write(base + ".csv", "\n".join([names, *lines, ""]).encode())
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo("probs.npy", (2020, 1, 1, 0, 0, 0)), npy(values, classes))
        write(base + ".npz", buffer.getvalue())
    write(os.path.join(folder, world, "complete"), b"")
