import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.time.Instant;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.*;

/**
 * Makes an output of each input, exactly once, with Apache's Java clients, until standard
 * input ends. What it does goes to standard output as events of package history.
 *
 * Arguments: bootstrap, group.protocol, number of transformers, begin of the history in
 * nanoseconds since 1970.
 */
public class Transform implements Runnable {
    private static final String GROUP = "transformers", INPUTS = "inputs", OUTPUTS = "outputs";
    private static final ObjectMapper JSON = new ObjectMapper().setSerializationInclusion(JsonInclude.Include.NON_NULL);
    private static final Object OUT = new Object();
    private static volatile boolean stopped;
    private static String bootstrap, protocol;
    private static long began;

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        protocol = args[1];
        began = Long.parseLong(args[3]);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            Thread t = new Thread(new Transform("java-" + protocol + "-" + i));
            t.setUncaughtExceptionHandler((thread, e) -> {
                e.printStackTrace();
                System.exit(1);
            });
            t.start();
            threads.add(t);
        }
        while (System.in.read() >= 0) {
        }
        stopped = true;
        for (Thread t : threads) {
            t.join();
        }
    }

    private record Position(String topic, int index, long offset) {
        Position(TopicPartition p, long offset) {
            this(p.topic(), p.partition(), offset);
        }
    }

    private record Sent(String topic, int index, long offset, String id, Position origin) {
    }

    private record Payload(String id, Position origin) {
    }

    private static long now() {
        Instant i = Instant.now();
        return i.getEpochSecond() * 1_000_000_000L + i.getNano() - began;
    }

    private final String name;
    private int life; // of the clients
    private int made;
    private KafkaConsumer<String, String> consumer;
    private KafkaProducer<String, String> producer;

    private Transform(String name) {
        this.name = name;
    }

    private String client() {
        return name + "." + life;
    }

    /** Clients that are of no use any more are replaced by others with the same transactional id. */
    public void run() {
        while (!stopped) {
            life++;
            try {
                open();
                while (!stopped) {
                    transact();
                }
            } catch (KafkaException e) {
                System.err.println(client() + " is over: " + e);
            } finally {
                close();
            }
        }
    }

    private void open() {
        Map<String, Object> c = new HashMap<>(Map.of("bootstrap.servers", bootstrap, "group.id", GROUP, "group.protocol", protocol,
            "isolation.level", "read_committed", "enable.auto.commit", false, "auto.offset.reset", "earliest", "max.poll.records", 20,
            "fetch.max.wait.ms", 200, "reconnect.backoff.max.ms", 500));
        if (protocol.equals("classic")) {
            c.putAll(Map.of("session.timeout.ms", 6000, "heartbeat.interval.ms", 500));
        }
        consumer = new KafkaConsumer<>(c, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(INPUTS), new ConsumerRebalanceListener() {
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                forget(partitions);
            }

            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                forget(partitions);
            }
        });
        producer = new KafkaProducer<>(Map.of("bootstrap.servers", bootstrap, "transactional.id", name, "transaction.timeout.ms", 10_000,
            "reconnect.backoff.max.ms", 500), new StringSerializer(), new StringSerializer());
        producer.initTransactions();
    }

    private void close() {
        for (AutoCloseable c : new AutoCloseable[] {consumer, producer}) {
            try {
                if (c != null) {
                    c.close();
                }
            } catch (Exception e) {
                System.err.println(client() + " does not close: " + e);
            }
        }
        consumer = null;
        producer = null;
    }

    /** One transaction. An exception means that the clients are of no use any more. */
    private void transact() {
        long begun = now();
        List<Sent> inputs = new ArrayList<>();
        Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
        for (ConsumerRecord<String, String> r : consumer.poll(Duration.ofMillis(500))) {
            inputs.add(new Sent(r.topic(), r.partition(), r.offset(), read(r.value()).id, null));
            next.put(new TopicPartition(r.topic(), r.partition()), new OffsetAndMetadata(r.offset() + 1));
        }
        if (inputs.isEmpty()) {
            return;
        }
        event("poll", begun, Map.of("readCommitted", true, "group", GROUP, "records", inputs));
        String txn = client() + "/" + made;
        boolean ending = false;
        try {
            producer.beginTransaction();
            for (Sent in : inputs) {
                send(txn, in);
            }
            event("commit", now(), Map.of("group", GROUP, "txn", txn, "offsets", positions(next)));
            producer.sendOffsetsToTransaction(next, consumer.groupMetadata());
            ending = true;
            begun = now();
            commit();
            event("end", begun, Map.of("txn", txn, "commit", true));
        } catch (KafkaException e) {
            System.err.println(txn + (ending ? " does not commit: " : " is given up: ") + e);
            abort(txn);
            rewind();
        }
    }

    private void send(String txn, Sent in) {
        String id = client() + "/" + ++made;
        Position origin = new Position(in.topic, in.index, in.offset);
        long begun = now();
        producer.send(new ProducerRecord<>(OUTPUTS, write(new Payload(id, origin))), (at, failure) -> {
            boolean there = failure == null;
            Sent s = new Sent(OUTPUTS, at.partition(), there ? at.offset() : -1, id, origin);
            event("send", begun, Map.of("outcome", there ? "ok" : "unknown", "txn", txn, "records", List.of(s)));
        });
    }

    /** A commit whose answer does not come is asked for again. */
    private void commit() {
        while (true) {
            try {
                producer.commitTransaction();
                return;
            } catch (TimeoutException e) {
                System.err.println(client() + " commits again: " + e);
            }
        }
    }

    /** If the producer says that it aborted, nothing of the transaction may be seen, whatever came before. */
    private void abort(String txn) {
        long begun = now();
        try {
            producer.abortTransaction();
        } catch (KafkaException e) {
            event("end", begun, Map.of("txn", txn, "commit", true, "outcome", "unknown"));
            throw e;
        }
        event("end", begun, Map.of("txn", txn));
    }

    /** Goes back to what is committed. */
    private void rewind() {
        Set<TopicPartition> assigned = consumer.assignment();
        forget(assigned);
        consumer.committed(assigned).forEach((p, committed) -> {
            if (committed != null) {
                consumer.seek(p, committed);
            } else {
                consumer.seekToBeginning(List.of(p));
            }
        });
    }

    /** Nobody knows where the consumer stands in these partitions. */
    private void forget(Collection<TopicPartition> partitions) {
        event("seek", now(), Map.of("offsets", partitions.stream().map(p -> new Position(p, -1)).toList()));
    }

    private static List<Position> positions(Map<TopicPartition, OffsetAndMetadata> offsets) {
        return offsets.entrySet().stream().map(e -> new Position(e.getKey(), e.getValue().offset())).toList();
    }

    private void event(String kind, long begun, Map<String, Object> fields) {
        Map<String, Object> all = new TreeMap<>(Map.of("kind", kind, "client", client(), "begun", begun, "ended", now(), "outcome", "ok"));
        all.putAll(fields);
        String line = write(all);
        synchronized (OUT) {
            System.out.println(line);
        }
    }

    private static String write(Object o) {
        try {
            return JSON.writeValueAsString(o);
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Payload read(String value) {
        try {
            return JSON.readValue(value, Payload.class);
        } catch (java.io.IOException e) {
            throw new IllegalStateException(value, e);
        }
    }
}
