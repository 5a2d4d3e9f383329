import java.time.Duration;
import java.util.*;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.*;

/**
 * Two applications of Kafka Streams in one, exactly once, until standard input ends:
 *
 * <ul>
 * <li>counts: how often each word came in lines; each occurrence gives one more output.
 * <li>totals: orders, joined with the payments of the same key, summed for each shop and
 *     minute; each pair gives one output.
 * </ul>
 *
 * Arguments: bootstrap, state directory. Writes "running" whenever it is.
 */
public class Words {
    public static void main(String[] args) throws Exception {
        Properties p = new Properties();
        p.putAll(Map.of("application.id", "words", "bootstrap.servers", args[0], "state.dir", args[1], "processing.guarantee", "exactly_once_v2",
            "commit.interval.ms", 100, "num.stream.threads", 2, "replication.factor", 1, "statestore.cache.max.bytes", 0,
            "default.key.serde", Serdes.StringSerde.class, "default.value.serde", Serdes.StringSerde.class));
        // Soon back at work after the broker was away; what is repartitioned is deleted soon.
        p.putAll(Map.of("reconnect.backoff.max.ms", 500, "consumer.session.timeout.ms", 6000, "consumer.heartbeat.interval.ms", 500,
            "repartition.purge.interval.ms", 1000));
        KafkaStreams streams = new KafkaStreams(topology(), p);
        streams.setUncaughtExceptionHandler(e -> {
            e.printStackTrace();
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        });
        streams.setStateListener((now, before) -> System.out.println(now.toString().toLowerCase()));
        streams.start();
        while (System.in.read() >= 0) {
        }
        streams.close(Duration.ofSeconds(60));
    }

    private static Topology topology() {
        StreamsBuilder b = new StreamsBuilder();
        KStream<String, String> lines = b.stream("lines");
        lines.flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.as("by-word"))
            .count(Materialized.as("counts"))
            .toStream().mapValues(String::valueOf).to("counts");

        // An order's value is its shop, a payment's its amount.
        KStream<String, String> orders = b.stream("orders"), payments = b.stream("payments");
        orders.join(payments, (shop, amount) -> shop + " " + amount, JoinWindows.ofTimeDifferenceAndGrace(Duration.ofMinutes(5), Duration.ofDays(1)),
                StreamJoined.as("paid"))
            .groupBy((order, paid) -> paid.split(" ")[0], Grouped.as("by-shop"))
            .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(1), Duration.ofDays(1)))
            .aggregate(() -> "0", (shop, paid, sum) -> String.valueOf(Long.parseLong(sum) + Long.parseLong(paid.split(" ")[1])), Materialized.as("totals"))
            .toStream((shop, sum) -> shop.key() + "@" + shop.window().start()).to("totals");
        return b.build();
    }
}
