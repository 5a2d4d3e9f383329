import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A member of a consumer group by Apache's Java client: commands in, events out, as JSON lines. */
public class Member {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final LinkedBlockingQueue<Optional<JsonNode>> commands = new LinkedBlockingQueue<>();
    private static KafkaConsumer<String, String> consumer;
    private static String topic;
    private static final Set<TopicPartition> owned = new TreeSet<>(Comparator.comparingInt(TopicPartition::partition));

    private static boolean modern; // the group uses the consumer protocol

    public static void main(String[] args) throws Exception {
        modern = args.length > 0 && args[0].equals("consumer");
        Thread reader = new Thread(Member::read);
        reader.setDaemon(true);
        reader.start();
        event("ready", Map.of());
        while (true) {
            Optional<JsonNode> next = consumer == null ? commands.take() : commands.poll();
            if (next != null && next.isEmpty()) {
                break;
            }
            if (next != null) {
                try {
                    obey(next.get());
                } catch (Exception e) {
                    event("error", Map.of("text", e.toString()));
                }
            } else {
                poll();
            }
        }
        if (consumer != null) {
            consumer.close();
        }
    }

    private static void read() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                commands.add(Optional.of(JSON.readTree(line)));
            }
        } catch (Exception e) {
            System.err.println(e);
        }
        commands.add(Optional.empty());
    }

    private static void event(String name, Map<String, Object> fields) {
        Map<String, Object> all = new TreeMap<>(fields);
        all.put("event", name);
        try {
            System.out.println(JSON.writeValueAsString(all));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void poll() {
        try {
            for (ConsumerRecord<String, String> r : consumer.poll(Duration.ofMillis(50))) {
                event("record", Map.of("partition", r.partition(), "offset", r.offset(), "value", r.value()));
            }
        } catch (Exception e) {
            event("error", Map.of("text", e.toString()));
            if (e instanceof NoOffsetForPartitionException) {
                consumer.close();
                consumer = null;
            }
        }
    }

    private static void obey(JsonNode c) {
        TopicPartition p = new TopicPartition(topic, c.path("partition").asInt());
        switch (c.get("do").asText()) {
            case "join" -> join(c);
            case "commit" -> commit(c.path("async").asBoolean());
            case "pause" -> { consumer.pause(List.of(p)); event("paused", Map.of()); }
            case "resume" -> { consumer.resume(List.of(p)); event("resumed", Map.of()); }
            case "seek" -> { consumer.seek(p, c.get("offset").asLong()); event("sought", Map.of()); }
            case "position" -> position();
            case "leave" -> leave();
            default -> throw new IllegalArgumentException("no command " + c);
        }
    }

    private static void join(JsonNode c) {
        topic = c.get("topic").asText();
        owned.clear();
        Properties p = new Properties();
        p.put("bootstrap.servers", c.get("bootstrap").asText());
        p.put("group.id", c.get("group").asText());
        p.put("auto.offset.reset", c.get("reset").asText());
        if (modern) {
            p.put("group.protocol", "consumer");
            p.put("group.remote.assignor", "range");
        } else {
            p.put("group.protocol", "classic");
            p.put("session.timeout.ms", c.get("session_ms").asText());
            p.put("heartbeat.interval.ms", "400");
            p.put("partition.assignment.strategy", c.path("assignor").asText().equals("cooperative")
                ? "org.apache.kafka.clients.consumer.CooperativeStickyAssignor" : "org.apache.kafka.clients.consumer.RangeAssignor");
        }
        p.put("enable.auto.commit", c.path("auto_ms").asInt() > 0);
        if (c.path("auto_ms").asInt() > 0) {
            p.put("auto.commit.interval.ms", c.get("auto_ms").asText());
        }
        if (!c.path("instance").asText("").isEmpty()) {
            p.put("group.instance.id", c.get("instance").asText());
        }
        consumer = new KafkaConsumer<>(p, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(topic), new Listener());
    }

    private static void commit(boolean async) {
        if (!async) {
            consumer.commitSync();
            event("committed", Map.of());
            return;
        }
        consumer.commitAsync((offsets, failure) -> {
            if (failure == null) {
                event("committed", Map.of());
            } else {
                event("error", Map.of("text", failure.toString()));
            }
        });
    }

    private static void position() {
        Map<String, Object> next = new TreeMap<>();
        for (TopicPartition p : owned) {
            next.put(Integer.toString(p.partition()), consumer.position(p));
        }
        event("position", Map.of("offsets", next));
    }

    private static void leave() {
        consumer.close();
        consumer = null;
        event("left", Map.of());
    }

    private static class Listener implements ConsumerRebalanceListener {
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            owned.addAll(partitions);
            owns();
        }

        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            if (partitions.isEmpty()) {
                return;
            }
            event("revoked", Map.of("partitions", partitions.stream().map(TopicPartition::partition).toList()));
            owned.removeAll(partitions);
            owns();
        }

        private void owns() {
            event("owns", Map.of("partitions", owned.stream().map(TopicPartition::partition).toList(), "generation", modern ? -1 : consumer.groupMetadata().generationId()));
        }
    }
}
