package checker.recorder;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.ShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Starts brokers, has consumers of one protocol join a group, leave, die, stall and lose their connections, at random
 * from a seed, disturbs the coordinator where there are several brokers, and writes what passed between them.
 *
 * <p>Arguments: file, protocol (classic, consumer, share), seconds, seed, session timeout in milliseconds, brokers,
 * disturbances (of {@link Disturbances.Kind}, with commas between them), how many consumers there are at most at a
 * time, and `calm` where clients only come and go.
 */
public final class Recorder {
    private static final String TOPIC = "t";
    private static final String OFFSETS = "__consumer_offsets";
    private static final int PARTITIONS = 4;
    private static final List<AcknowledgeType> ANSWERS = List.of(AcknowledgeType.ACCEPT, AcknowledgeType.ACCEPT,
        AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT);
    private final Proxy proxy;
    private final Disturbances disturbances;
    private final String protocol;
    private final int session;
    /** Where clients begin, and how long they wait for an answer. */
    private final Map<String, Object> connection;
    private final Random chance;
    /** How many there are at most at a time. */
    private final int most;
    /** Clients only come and go. */
    private final boolean calm;
    private final Map<String, Member> alive = new TreeMap<>();
    private int started;

    private Recorder(Proxy proxy, Disturbances disturbances, String protocol, int session, Map<String, Object> connection,
            Random chance, int most, boolean calm) {
        this.proxy = proxy;
        this.disturbances = disturbances;
        this.protocol = protocol;
        this.session = session;
        this.connection = connection;
        this.chance = chance;
        this.most = most;
        this.calm = calm;
    }

    public static void main(String[] args) throws Exception {
        int session = Integer.parseInt(args[4]);
        int brokers = Integer.parseInt(args[5]);
        Set<Disturbances.Kind> kinds = EnumSet.noneOf(Disturbances.Kind.class);
        Arrays.stream(args[6].split(",")).filter(word -> !word.isEmpty())
            .forEach(word -> kinds.add(Disturbances.Kind.valueOf(word.toUpperCase(Locale.ROOT))));
        Cluster cluster = Cluster.behindProxies(brokers, Files.createTempDirectory("recorder"), session);
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(args[0])), false, "UTF-8");
                Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + cluster.internal()))) {
            begin(admin, brokers);
            Proxy proxy = new Proxy(out);
            for (Cluster.Node node : cluster.nodes()) {
                proxy.stand(node.advertised(), node.client(), node.name());
            }
            if (args[1].equals("share")) {
                Consuming.produce(cluster.internal(), PARTITIONS);
            }
            // Who asks a broker that is paused looks for another one in the meantime.
            Map<String, Object> connection = Map.of(
                "bootstrap.servers", "127.0.0.1:" + cluster.nodes().get(0).advertised(),
                "request.timeout.ms", brokers > 1 ? session : 10_000, "default.api.timeout.ms", 10_000);
            Random chance = new Random(Long.parseLong(args[3]));
            Disturbances disturbances = new Disturbances(cluster, admin, proxy, OFFSETS, kinds, chance);
            new Recorder(proxy, disturbances, args[1], session, connection, chance,
                Integer.parseInt(args[7]), args[8].equals("calm"))
                .run(Integer.parseInt(args[2]));
            out.flush();
        } finally {
            cluster.close();
        }
        Runtime.getRuntime().halt(0);
    }

    /** Creates the topics when all brokers are there: that of the records on the first one, which is never paused. */
    private static void begin(Admin admin, int brokers) throws Exception {
        while (admin.describeCluster().nodes().get(60, TimeUnit.SECONDS).size() < brokers) {
            Thread.sleep(100);
        }
        Map<Integer, List<Integer>> first = new TreeMap<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            first.put(partition, List.of(1));
        }
        admin.createTopics(List.of(new NewTopic(TOPIC, first))).all().get(60, TimeUnit.SECONDS);
        if (brokers > 1) {
            for (String topic : List.of(OFFSETS, "__share_group_state")) {
                Disturbances.create(admin, topic);
            }
        }
    }

    private void run(int seconds) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        begin();
        while (System.nanoTime() < end) {
            Thread.sleep(200 + chance.nextInt(session));
            alive.values().removeIf(member -> member.failed);
            step();
            disturbances.next();
        }
        for (Member member : new ArrayList<>(alive.values())) {
            member.close();
        }
        Thread.sleep(500);
    }

    private void step() throws Exception {
        int number = chance.nextInt(10);
        if (alive.isEmpty() || alive.size() < most && number < 4) {
            begin();
            return;
        }
        List<String> names = new ArrayList<>(alive.keySet());
        String name = names.get(chance.nextInt(names.size()));
        if (calm && number > 5) {
            Thread.sleep(session / 2);
            return;
        }
        switch (number) {
            case 4, 5 -> alive.remove(name).close();
            case 6 -> {
                proxy.kill(name);
                alive.remove(name).stop();
            }
            case 7 -> proxy.cut(name);
            case 8 -> proxy.drop(name);
            case 9 -> proxy.stall(name, session / 2 + chance.nextInt(session));
            default -> Thread.sleep(session / 2);
        }
    }

    private void begin() {
        String name = String.valueOf((char) ('A' + started % 26)) + (started < 26 ? "" : started / 26);
        started++;
        proxy.note("Start", name, protocol);
        alive.put(name, new Member(name));
    }

    /** One consumer, polling in a thread of its own. */
    private final class Member {
        private final String name;
        private final Thread thread;
        private volatile boolean failed;
        private volatile boolean ends;
        private volatile boolean leaves;

        Member(String name) {
            this.name = name;
            Map<String, Object> settings = new TreeMap<>(connection);
            settings.putAll(Map.of(
                "client.id", name, "group.id", "g",
                "key.deserializer", ByteArrayDeserializer.class, "value.deserializer", ByteArrayDeserializer.class));
            if (!protocol.equals("share")) {
                settings.put("group.protocol", protocol);
                settings.put("auto.offset.reset", "earliest");
                settings.put("enable.auto.commit", false);
            }
            if (protocol.equals("classic")) {
                settings.put("session.timeout.ms", session);
                settings.put("heartbeat.interval.ms", session / 4);
                settings.put("max.poll.interval.ms", 2 * session);
            }
            thread = new Thread(protocol.equals("share") ? () -> share(settings) : () -> consume(settings));
            thread.setDaemon(true);
            thread.start();
        }

        private void consume(Map<String, Object> settings) {
            try (Consumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings)) {
                consumer.subscribe(List.of(TOPIC));
                untilTheEnd(() -> consumer.poll(Duration.ofMillis(50)));
            }
        }

        /** An application that does not expect an error ends without a word. */
        private void untilTheEnd(Runnable poll) {
            try {
                while (!ends) {
                    poll.run();
                }
            } catch (KafkaException fatal) {
                proxy.kill(name);
                failed = true;
            }
            hang();
        }

        /** Every record gets an answer of its own, some of them after its lock has expired. */
        private void share(Map<String, Object> settings) {
            Random own = new Random(chance.nextLong());
            settings.put("share.acknowledgement.mode", "explicit");
            try (ShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(settings)) {
                consumer.subscribe(List.of(TOPIC));
                untilTheEnd(() -> {
                    ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(50));
                    if (!records.isEmpty() && own.nextInt(12) == 0) {
                        pause(Cluster.LOCK_MS + 300);
                    }
                    for (ConsumerRecord<byte[], byte[]> record : records) {
                        consumer.acknowledge(record, ANSWERS.get(own.nextInt(ANSWERS.size())));
                    }
                    if (own.nextBoolean()) {
                        consumer.commitSync();
                    }
                });
            }
        }

        private void pause(int milliseconds) {
            try {
                Thread.sleep(milliseconds);
            } catch (InterruptedException over) {
                ends = true;
            }
        }

        /** A client that was killed says nothing more, whatever it does. */
        private void hang() {
            while (!leaves) {
                try {
                    Thread.sleep(1_000);
                } catch (InterruptedException over) {
                    return;
                }
            }
        }

        void close() throws InterruptedException {
            leaves = true;
            ends = true;
            thread.join(15_000);
        }

        void stop() {
            ends = true;
        }
    }
}
