"""Round trip by kafka-python."""

import sys
import time

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from records import PARTITIONS, Checker, key, main, value


def produce(bootstrap, topic, n):
    p = KafkaProducer(bootstrap_servers=bootstrap, acks="all", linger_ms=5)
    futures = [p.send(topic, value(i), key(i), partition=i % PARTITIONS) for i in range(n)]
    p.flush()
    for f in futures:
        f.get(60)
    p.close()


def consume(bootstrap, topic, n):
    c = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", group_id=None)
    c.assign([TopicPartition(topic, p) for p in range(PARTITIONS)])
    check, end = Checker(n), time.time() + 600
    while not check.done():
        if time.time() > end:
            sys.exit(f"only {check.seen} records")
        for batch in c.poll(1000).values():
            for m in batch:
                check.record(m.partition, m.offset, m.key, m.value)
    c.close()


main(produce, consume)
