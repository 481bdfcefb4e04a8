package checker.recorder;

import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
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
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Starts a broker in this process, has consumers of one protocol join its group, leave, die, stall and lose their
 * connections, at random from a seed, and writes what passed between them and the broker.
 *
 * <p>Arguments: file, protocol (classic, consumer, share), seconds, seed, session timeout in milliseconds.
 */
public final class Recorder {
    private static final String TOPIC = "t";
    private static final int PARTITIONS = 4;
    private static final int LOCK_MS = 1_500;
    private static final List<AcknowledgeType> ANSWERS = List.of(AcknowledgeType.ACCEPT, AcknowledgeType.ACCEPT,
        AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT);
    private final Proxy proxy;
    private final String protocol;
    private final int session;
    private final int port;
    private final Random chance;
    private final Map<String, Member> alive = new TreeMap<>();
    private int started;

    private Recorder(Proxy proxy, String protocol, int session, int port, long seed) {
        this.proxy = proxy;
        this.protocol = protocol;
        this.session = session;
        this.port = port;
        this.chance = new Random(seed);
    }

    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("recorder");
        int client = free();
        int advertised = free();
        int internal = free();
        startBroker(folder, client, advertised, internal, Integer.parseInt(args[4]), 0);
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(args[0])), false, "UTF-8")) {
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + internal))) {
                admin.createTopics(List.of(new NewTopic(TOPIC, PARTITIONS, (short) 1))).all().get(60, TimeUnit.SECONDS);
            }
            Proxy proxy = new Proxy(advertised, client, out);
            if (args[1].equals("share")) {
                produce(internal);
            }
            new Recorder(proxy, args[1], Integer.parseInt(args[4]), advertised, Long.parseLong(args[3]))
                .run(Integer.parseInt(args[2]));
            out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    /** Writes one to six records at a time to one partition after the other, five times a second. */
    private static void produce(int port) {
        Thread thread = new Thread(() -> {
            try (Producer<byte[], byte[]> producer = new KafkaProducer<>(Map.<String, Object>of("bootstrap.servers", "127.0.0.1:" + port),
                    new ByteArraySerializer(), new ByteArraySerializer())) {
                for (int number = 0; true; number++) {
                    for (int record = 0; record <= number * 7 % 6; record++) {
                        producer.send(new ProducerRecord<>(TOPIC, number % PARTITIONS, null, new byte[0]));
                    }
                    Thread.sleep(200);
                }
            } catch (InterruptedException over) {
                // The run is over.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    static int free() throws Exception {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    static void startBroker(Path folder, int client, int advertised, int internal, int session, int delay)
            throws Exception {
        int controller = free();
        Properties settings = new Properties();
        String host = "://127.0.0.1:";
        settings.putAll(Map.of(
            "process.roles", "broker,controller", "node.id", "1",
            "listeners", "CLIENT" + host + client + ",INTERNAL" + host + internal + ",CONTROLLER" + host + controller,
            "advertised.listeners", "CLIENT" + host + advertised + ",INTERNAL" + host + internal,
            "listener.security.protocol.map", "CLIENT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name", "INTERNAL",
            "controller.listener.names", "CONTROLLER",
            "controller.quorum.voters", "1@127.0.0.1:" + controller,
            "log.dirs", folder.resolve("data").toString(),
            "group.initial.rebalance.delay.ms", String.valueOf(delay)));
        settings.putAll(Map.of(
            "offsets.topic.num.partitions", "1", "offsets.topic.replication.factor", "1",
            "share.coordinator.state.topic.num.partitions", "1",
            "share.coordinator.state.topic.replication.factor", "1",
            "share.coordinator.state.topic.min.isr", "1",
            "transaction.state.log.replication.factor", "1", "transaction.state.log.min.isr", "1",
            "log.cleaner.dedupe.buffer.size", "2097152",
            "group.min.session.timeout.ms", "500"));
        settings.put("group.share.min.record.lock.duration.ms", "1000");
        settings.put("group.share.record.lock.duration.ms", String.valueOf(LOCK_MS));
        for (String kind : List.of("consumer", "share")) {
            settings.put("group." + kind + ".min.session.timeout.ms", "500");
            settings.put("group." + kind + ".session.timeout.ms", String.valueOf(session));
            settings.put("group." + kind + ".min.heartbeat.interval.ms", "100");
            settings.put("group." + kind + ".heartbeat.interval.ms", String.valueOf(session / 4));
        }
        Path file = folder.resolve("server.properties");
        try (var out = Files.newOutputStream(file)) {
            settings.store(out, null);
        }
        String cluster = org.apache.kafka.common.Uuid.randomUuid().toString();
        int done = kafka.tools.StorageTool.execute(
            new String[] {"format", "-t", cluster, "-c", file.toString()}, System.err);
        if (done != 0) {
            throw new IllegalStateException("the storage could not be formatted");
        }
        Thread broker = new Thread(() -> kafka.Kafka.main(new String[] {file.toString()}));
        broker.setDaemon(true);
        broker.start();
        System.err.println("a broker is started in " + folder);
    }

    private void run(int seconds) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        begin();
        while (System.nanoTime() < end) {
            Thread.sleep(200 + chance.nextInt(session));
            step();
        }
        for (Member member : new ArrayList<>(alive.values())) {
            member.close();
        }
        Thread.sleep(500);
    }

    private void step() throws Exception {
        int number = chance.nextInt(10);
        if (alive.isEmpty() || alive.size() < 3 && number < 4) {
            begin();
            return;
        }
        List<String> names = new ArrayList<>(alive.keySet());
        String name = names.get(chance.nextInt(names.size()));
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
        private final Thread thread;
        private volatile boolean ends;
        private volatile boolean leaves;

        Member(String name) {
            Map<String, Object> settings = new TreeMap<>(Map.of(
                "bootstrap.servers", "127.0.0.1:" + port, "client.id", name, "group.id", "g",
                "key.deserializer", ByteArrayDeserializer.class, "value.deserializer", ByteArrayDeserializer.class,
                "request.timeout.ms", 10_000, "default.api.timeout.ms", 10_000));
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
                while (!ends) {
                    consumer.poll(Duration.ofMillis(50));
                }
                hang();
            }
        }

        /** Every record gets an answer of its own, some of them after its lock has expired. */
        private void share(Map<String, Object> settings) {
            Random own = new Random(chance.nextLong());
            settings.put("share.acknowledgement.mode", "explicit");
            try (ShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(settings)) {
                consumer.subscribe(List.of(TOPIC));
                while (!ends) {
                    ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(50));
                    if (!records.isEmpty() && own.nextInt(12) == 0) {
                        pause(LOCK_MS + 300);
                    }
                    for (ConsumerRecord<byte[], byte[]> record : records) {
                        consumer.acknowledge(record, ANSWERS.get(own.nextInt(ANSWERS.size())));
                    }
                    if (own.nextBoolean()) {
                        consumer.commitSync();
                    }
                }
                hang();
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
