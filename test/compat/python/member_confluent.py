"""A member of a consumer group by confluent-kafka, which stands on librdkafka."""

from confluent_kafka import Consumer, TopicPartition

from member import event, record, serve


class Member:
    def __init__(self):
        self.consumer, self.owned = None, set()

    def joined(self):
        return self.consumer is not None

    def join(self, c):
        self.topic, self.owned, self.cooperative = c["topic"], set(), c["assignor"] == "cooperative"
        config = {
            "bootstrap.servers": c["bootstrap"],
            "group.id": c["group"],
            "group.protocol": "classic",
            "auto.offset.reset": "error" if c["reset"] == "none" else c["reset"],
            "session.timeout.ms": c["session_ms"],
            "heartbeat.interval.ms": 400,
            "partition.assignment.strategy": "cooperative-sticky" if self.cooperative else "range",
            "enable.auto.commit": c["auto_ms"] > 0,
            "fetch.wait.max.ms": 200,
            "log_level": 2,
        }
        if c["auto_ms"] > 0:
            config["auto.commit.interval.ms"] = c["auto_ms"]
        if c["instance"]:
            config["group.instance.id"] = c["instance"]
        self.consumer = Consumer(config)
        self.consumer.subscribe([self.topic], on_assign=self.assigned, on_revoke=self.revoked, on_lost=self.revoked)

    def assigned(self, consumer, partitions):
        if self.cooperative:
            consumer.incremental_assign(partitions)
        else:
            consumer.assign(partitions)
        self.owned |= {p.partition for p in partitions}
        self.owns()

    def revoked(self, consumer, partitions):
        gone = [p.partition for p in partitions]
        event("revoked", partitions=gone)
        if self.cooperative:
            consumer.incremental_unassign(partitions)
        else:
            consumer.unassign()
        self.owned -= set(gone)
        self.owns()

    def owns(self):
        event("owns", partitions=sorted(self.owned), generation=-1)

    def poll(self):
        m = self.consumer.poll(0.05)
        if m is None:
            return
        if m.error():
            event("error", text=str(m.error()))
        else:
            record(m.partition(), m.offset(), m.value())

    def commit(self, asynchronous):
        # The answer to an asynchronous commit comes by no way that is free of
        # races here, so the test looks at the offsets.
        self.consumer.commit(asynchronous=asynchronous)
        event("committed")

    def at(self, partition, offset=0):
        return TopicPartition(self.topic, partition, offset)

    def pause(self, partition):
        self.consumer.pause([self.at(partition)])

    def resume(self, partition):
        self.consumer.resume([self.at(partition)])

    def seek(self, partition, offset):
        self.consumer.seek(self.at(partition, offset))

    def position(self):
        return {p.partition: p.offset for p in self.consumer.position([self.at(p) for p in self.owned])}

    def leave(self):
        self.consumer.close()
        self.consumer = None


serve(Member())
