"""The records of the compatibility tests, as the Go side defines them."""

import sys

PARTITIONS = 3


def key(i):
    return f"key-{i}".encode()


def value(i):
    head = f"value-{i}-"
    return (head + chr(ord("a") + i % 26) * (100 - len(head))).encode()


class Checker:
    """Compares what a consumer sees with what was written."""

    def __init__(self, n):
        self.want, self.seen, self.next = n, 0, [0] * PARTITIONS

    def record(self, partition, offset, k, v):
        i = offset * PARTITIONS + partition
        if offset != self.next[partition] or k != key(i) or v != value(i):
            sys.exit(f"partition {partition} offset {offset}: unexpected {k} {v}")
        self.next[partition] += 1
        self.seen += 1

    def done(self):
        return self.seen >= self.want


def main(produce, consume):
    verb, bootstrap, topic, n = sys.argv[1:5]
    {"produce": produce, "consume": consume}[verb](bootstrap, topic, int(n))
