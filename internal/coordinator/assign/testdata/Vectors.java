// Writes what Apache Kafka 4.4.0's own assignors make of groups of seeded shapes, and
// in which order its hash maps walk. To make the vectors anew:
//
//     oracle java internal/coordinator/assign/testdata/Vectors.java assign > .../assign.txt
//     oracle java internal/coordinator/assign/testdata/Vectors.java order > .../order.txt
import java.io.PrintStream;
import java.util.*;
import java.util.stream.Collectors;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.*;
import org.apache.kafka.coordinator.group.assignor.*;
import org.apache.kafka.coordinator.group.modern.*;
import org.apache.kafka.timeline.*;

public class Vectors {
    static final PrintStream out = System.out;

    static class Shape {
        Random random;
        Map<Uuid, Integer> topics = new LinkedHashMap<>();
        Map<String, Optional<String>> members = new LinkedHashMap<>();
        Map<String, Set<Uuid>> subscribed = new HashMap<>();
        Map<String, Map<Uuid, Set<Integer>>> owned = new HashMap<>();
        boolean same;
        int most;

        Uuid uuid() { return new Uuid(random.nextLong(), random.nextLong()); }
        String name(String prefix) { return prefix + Long.toString(random.nextLong() >>> 20, 36); }
        List<Uuid> topicList() { return new ArrayList<>(topics.keySet()); }

        Set<Uuid> subscription() {
            if (same) return new LinkedHashSet<>(topics.keySet());
            List<Uuid> list = topicList();
            Collections.shuffle(list, random);
            return new LinkedHashSet<>(list.subList(0, random.nextInt(list.size() + 1)));
        }

        void addMember() {
            String id = name(random.nextBoolean() ? "consumer-" : "");
            members.put(id, random.nextInt(4) == 0 ? Optional.of(name("i")) : Optional.empty());
            subscribed.put(id, subscription());
        }

        void change() {
            switch (random.nextInt(same ? 4 : 5)) {
                case 0: for (int i = random.nextInt(3); i >= 0; i--) addMember(); break;
                case 1:
                    for (int i = random.nextInt(3); i >= 0 && members.size() > 1; i--) {
                        String id = new ArrayList<>(members.keySet()).get(random.nextInt(members.size()));
                        members.remove(id); subscribed.remove(id); owned.remove(id);
                    }
                    break;
                case 2: // partitions are added
                    Uuid t = topicList().get(random.nextInt(topics.size()));
                    topics.put(t, topics.get(t) + 1 + random.nextInt(most));
                    break;
                case 3: // a topic comes, or goes
                    if (random.nextBoolean() || topics.size() == 1) topics.put(uuid(), 1 + random.nextInt(most));
                    else {
                        Uuid gone = topicList().get(random.nextInt(topics.size()));
                        topics.remove(gone);
                        subscribed.values().forEach(s -> s.remove(gone));
                    }
                    if (same) members.keySet().forEach(id -> subscribed.put(id, subscription()));
                    break;
                default:
                    String id = new ArrayList<>(members.keySet()).get(random.nextInt(members.size()));
                    subscribed.put(id, subscription());
            }
        }

        void assign(ConsumerGroupPartitionAssignor assignor) {
            Map<String, MemberSubscriptionAndAssignmentImpl> specs = new HashMap<>();
            Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
            members.forEach((id, instance) -> {
                Map<Uuid, Set<Integer>> had = owned.getOrDefault(id, Map.of());
                specs.put(id, new MemberSubscriptionAndAssignmentImpl(Optional.empty(), instance, subscribed.get(id), new Assignment(had)));
                had.forEach((t, ps) -> ps.forEach(p -> inverted.computeIfAbsent(t, k -> new HashMap<>()).put(p, id)));
            });
            boolean alike = new HashSet<>(subscribed.values()).size() <= 1;
            out.println("case " + assignor.name() + " " + (alike ? "homogeneous" : "heterogeneous"));
            topics.forEach((t, n) -> out.println("topic " + t + " " + n));
            specs.forEach((id, s) -> out.println("member " + id + " " + s.instanceId().orElse("-") + " " + list(subscribed.get(id)) + " " + text(s.partitions())));
            GroupAssignment got = assignor.assign(
                new GroupSpecImpl(Collections.unmodifiableMap(specs), alike ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS, inverted, Optional.empty()),
                new SubscribedTopicDescriber() {
                    public int numPartitions(Uuid t) { return topics.getOrDefault(t, -1); }
                    public Set<String> racksForPartition(Uuid t, int p) { return Set.of(); }
                    public Set<Integer> assignablePartitions(Uuid t) { throw new UnsupportedOperationException(); }
                });
            owned.clear();
            specs.keySet().forEach(id -> {
                MemberAssignment a = got.members().get(id);
                // As Assignment.fromRecord makes it of a record.
                Map<Uuid, Set<Integer>> has = a == null ? Map.of() : a.partitions().entrySet().stream()
                    .collect(Collectors.toMap(Map.Entry::getKey, e -> new HashSet<>(new ArrayList<>(e.getValue()))));
                owned.put(id, has);
                out.println("gets " + text(has));
            });
            out.println();
        }
    }

    static String list(Set<Uuid> topics) {
        return topics.isEmpty() ? "-" : topics.stream().map(Uuid::toString).collect(Collectors.joining(","));
    }

    static String text(Map<Uuid, Set<Integer>> a) {
        if (a.isEmpty()) return "-";
        return a.entrySet().stream().map(e -> e.getKey() + ":" + e.getValue().stream().map(String::valueOf).collect(Collectors.joining(",")))
            .collect(Collectors.joining(";"));
    }

    static void shapes(long seed) {
        for (ConsumerGroupPartitionAssignor assignor : List.of(new UniformAssignor(), new RangeAssignor())) {
            Shape s = new Shape();
            s.random = new Random(seed);
            s.same = seed % 2 == 0;
            s.most = seed % 5 == 0 ? 60 : 9;
            for (int i = s.random.nextInt(5); i >= 0; i--) s.topics.put(s.uuid(), 1 + s.random.nextInt(s.most));
            for (int i = s.random.nextInt(seed % 5 == 0 ? 40 : 9); i >= 0; i--) s.addMember();
            for (int step = 0; step < 6; step++) {
                s.assign(assignor);
                s.change();
            }
        }
    }

    static void order(long seed) {
        Random r = new Random(seed);
        int n = r.nextInt(seed % 4 == 0 ? 300 : 40);
        List<String> names = new ArrayList<>();
        List<Uuid> ids = new ArrayList<>();
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            names.add((r.nextInt(20) == 0 ? "\u00fc\ud83d\ude00" : "m") + Long.toString(r.nextLong() >>> 30, 36));
            ids.add(new Uuid(r.nextLong(), r.nextLong()));
            int next = r.nextInt(n * 3);
            if (!numbers.contains(next)) numbers.add(next);
        }
        print("names", names);
        Map<String, Integer> map = new HashMap<>();
        names.forEach(s -> map.put(s, 1));
        print("map", map.keySet());
        print("set", new HashSet<>(names));
        TimelineHashMap<String, Integer> timeline = new TimelineHashMap<>(new SnapshotRegistry(new org.apache.kafka.common.utils.internals.LogContext()), 0);
        names.forEach(s -> timeline.put(s, 1));
        print("timeline", timeline.keySet());
        print("ids", ids);
        Map<Uuid, Integer> idMap = new HashMap<>();
        ids.forEach(s -> idMap.put(s, 1));
        print("map", idMap.keySet());
        print("numbers", numbers);
        print("set", new HashSet<>(numbers));
    }

    static void print(String what, Collection<?> list) {
        out.println(what + " " + list.stream().map(String::valueOf).collect(Collectors.joining(" ")));
    }

    public static void main(String[] args) {
        for (long seed = 1; seed <= 20; seed++) {
            if (args[0].equals("order")) order(seed);
            else shapes(seed);
        }
    }
}
