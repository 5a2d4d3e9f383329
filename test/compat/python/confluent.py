"""Round trip by confluent-kafka, which stands on the newest librdkafka."""

import sys
import time

from confluent_kafka import Consumer, Producer, TopicPartition

from records import PARTITIONS, Checker, key, main, value


def produce(bootstrap, topic, n):
    failed = []
    p = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 5})

    def delivered(err, _):
        if err is not None:
            failed.append(err)

    for i in range(n):
        while True:
            try:
                p.produce(topic, value(i), key(i), i % PARTITIONS, on_delivery=delivered)
                break
            except BufferError:
                p.poll(0.1)
        p.poll(0)
    if p.flush(300) != 0 or failed:
        sys.exit(f"not delivered: {failed[:3]}")


def consume(bootstrap, topic, n):
    c = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False})
    c.assign([TopicPartition(topic, p, 0) for p in range(PARTITIONS)])
    check, end = Checker(n), time.time() + 300
    while not check.done():
        if time.time() > end:
            sys.exit(f"only {check.seen} records")
        for m in c.consume(10_000, 1.0):
            if m.error():
                sys.exit(str(m.error()))
            check.record(m.partition(), m.offset(), m.key(), m.value())
    c.close()


main(produce, consume)
