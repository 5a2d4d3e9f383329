"""A member of a consumer group by kafka-python."""

from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition
from kafka.coordinator.assignors.range import RangePartitionAssignor

from member import event, record, serve


class Member(ConsumerRebalanceListener):
    def __init__(self):
        self.consumer, self.owned = None, set()

    def joined(self):
        return self.consumer is not None

    def join(self, c):
        self.topic, self.owned = c["topic"], set()
        config = {}
        if c["instance"]:
            config["group_instance_id"] = c["instance"]
        if c["auto_ms"] > 0:
            config["auto_commit_interval_ms"] = c["auto_ms"]
        if c["assignor"] == "cooperative":
            from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor as assignor
        else:
            assignor = RangePartitionAssignor
        self.consumer = KafkaConsumer(
            bootstrap_servers=c["bootstrap"],
            group_id=c["group"],
            auto_offset_reset=c["reset"],
            session_timeout_ms=c["session_ms"],
            heartbeat_interval_ms=400,
            metadata_max_age_ms=2000,
            partition_assignment_strategy=[assignor],
            enable_auto_commit=c["auto_ms"] > 0,
            **config,
        )
        # Its leader shares out what it knows of at that moment, and does not always
        # look again: a topic that it has not seen yet would stay with nobody.
        while not self.consumer.partitions_for_topic(self.topic):
            pass
        self.consumer.subscribe([self.topic], listener=self)

    def on_partitions_assigned(self, partitions):
        self.owned |= {p.partition for p in partitions}
        self.owns()

    def on_partitions_revoked(self, partitions):
        if not partitions:
            return
        gone = {p.partition for p in partitions}
        event("revoked", partitions=sorted(gone))
        self.owned -= gone
        self.owns()

    def owns(self):
        event("owns", partitions=sorted(self.owned), generation=self.consumer._coordinator._generation.generation_id)

    def poll(self):
        # Its version 3.0.12 loses an assignment that arrives in the moment in which
        # poll's time is over: it has joined and never takes the partitions. A long
        # time makes that moment rare.
        for batch in self.consumer.poll(2000).values():
            for m in batch:
                record(m.partition, m.offset, m.value)

    def commit(self, asynchronous):
        if not asynchronous:
            self.consumer.commit()
            event("committed")
            return
        future = self.consumer.commit_async()
        future.add_callback(lambda _: event("committed"))
        future.add_errback(lambda e: event("error", text=repr(e)))

    def at(self, partition):
        return TopicPartition(self.topic, partition)

    def pause(self, partition):
        self.consumer.pause(self.at(partition))

    def resume(self, partition):
        self.consumer.resume(self.at(partition))

    def seek(self, partition, offset):
        self.consumer.seek(self.at(partition), offset)

    def position(self):
        return {p: self.consumer.position(self.at(p)) for p in self.owned}

    def leave(self):
        self.consumer.close()
        self.consumer = None


serve(Member())
