import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes or reads the records of the compatibility tests with Apache's own client. */
public class RoundTrip {
    static final int PARTITIONS = 3;

    static String value(int i) {
        String head = "value-" + i + "-";
        return head + String.valueOf((char) ('a' + i % 26)).repeat(100 - head.length());
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[3]);
        if (args[0].equals("produce")) produce(args[1], args[2], n); else consume(args[1], args[2], n);
    }

    static void produce(String bootstrap, String topic, int n) {
        AtomicReference<Exception> failed = new AtomicReference<>();
        try (KafkaProducer<String, String> p = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < n; i++) {
                p.send(new ProducerRecord<>(topic, i % PARTITIONS, "key-" + i, value(i)),
                    (m, e) -> { if (e != null) failed.compareAndSet(null, e); });
            }
        }
        if (failed.get() != null) throw new RuntimeException(failed.get());
    }

    static void consume(String bootstrap, String topic, int n) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (int p = 0; p < PARTITIONS; p++) partitions.add(new TopicPartition(topic, p));
        long[] next = new long[PARTITIONS];
        int seen = 0;
        try (KafkaConsumer<String, String> c = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrap), new StringDeserializer(), new StringDeserializer())) {
            c.assign(partitions);
            c.seekToBeginning(partitions);
            long end = System.currentTimeMillis() + 300_000;
            while (seen < n) {
                if (System.currentTimeMillis() > end) throw new RuntimeException("only " + seen + " records");
                for (ConsumerRecord<String, String> r : c.poll(Duration.ofMillis(500))) {
                    int i = (int) r.offset() * PARTITIONS + r.partition();
                    if (r.offset() != next[r.partition()]++ || !r.key().equals("key-" + i) || !r.value().equals(value(i)))
                        throw new RuntimeException("unexpected record " + r);
                    seen++;
                }
            }
        }
        if (seen != n) throw new RuntimeException(seen + " records, want " + n);
    }
}
