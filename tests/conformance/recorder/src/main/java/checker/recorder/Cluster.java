package checker.recorder;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.Uuid;

/**
 * Brokers on loopback. The first one is in this process, with the controller; each of the others is a process of its
 * own, which can be paused as a whole, such as the coordinator's.
 */
final class Cluster implements AutoCloseable {
    /** How long a record of a share group stays locked. */
    static final int LOCK_MS = 1_500;
    private static final String HOST = "://127.0.0.1:";

    private final String id = Uuid.randomUuid().toString();
    private final Path folder;
    private final int controller = free();
    private final int session;
    private final int delay;
    private final List<Node> nodes = new ArrayList<>();
    private final Map<Integer, Process> processes = new TreeMap<>();

    /** The ports of a broker: where clients reach it, what it tells them that is, and where it is reached without. */
    record Node(int number, int client, int advertised, int internal) {
        String name() {
            return "b" + number;
        }
    }

    /** One broker, which tells clients to come to `advertised`. */
    static Cluster single(Path folder, int client, int advertised, int session, int delay) throws Exception {
        Cluster found = new Cluster(folder, session, delay);
        found.nodes.add(new Node(1, client, advertised, free()));
        found.start();
        return found;
    }

    /** Some brokers that tell clients to come to other ports than their own. */
    static Cluster behindProxies(int brokers, Path folder, int session) throws Exception {
        Cluster found = new Cluster(folder, session, 0);
        for (int number = 1; number <= brokers; number++) {
            found.nodes.add(new Node(number, free(), free(), free()));
        }
        found.start();
        return found;
    }

    private Cluster(Path folder, int session, int delay) throws IOException {
        this.folder = folder;
        this.session = session;
        this.delay = delay;
    }

    List<Node> nodes() {
        return List.copyOf(nodes);
    }

    /** Where to reach the first broker without a proxy. */
    int internal() {
        return nodes.get(0).internal();
    }

    /**
     * Stops the process of a broker for a while. What wakes it again is a process of its own, so that nothing stays
     * stopped when this one ends.
     */
    void pause(int number, int milliseconds) throws IOException {
        long process = processes.get(number).pid();
        new ProcessBuilder("sh", "-c", "kill -STOP %d; sleep %s; kill -CONT %d".formatted(process, milliseconds / 1000.0, process))
            .start();
    }

    @Override
    public void close() {
        processes.values().forEach(Process::destroyForcibly);
    }

    static int free() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private void start() throws Exception {
        for (Node node : nodes) {
            Path file = settings(node);
            int done = kafka.tools.StorageTool.execute(new String[] {"format", "-t", id, "-c", file.toString()}, System.err);
            if (done != 0) {
                throw new IllegalStateException("the storage could not be formatted");
            }
            if (node.number() == 1) {
                Thread broker = new Thread(() -> kafka.Kafka.main(new String[] {file.toString()}));
                broker.setDaemon(true);
                broker.start();
            } else {
                processes.put(node.number(), new ProcessBuilder("java", "-Xmx256m", "-Xshare:auto", "-XX:TieredStopAtLevel=1",
                    "-cp", System.getProperty("java.class.path"), Child.class.getName(), file.toString())
                    .redirectOutput(folder.resolve(node.name() + ".out").toFile())
                    .redirectError(folder.resolve(node.name() + ".err").toFile())
                    .start());
            }
        }
        System.err.println(nodes.size() + (nodes.size() == 1 ? " broker is" : " brokers are") + " started in " + folder);
    }

    private Path settings(Node node) throws IOException {
        boolean first = node.number() == 1;
        String own = ",CONTROLLER" + HOST + controller;
        Properties settings = new Properties();
        settings.putAll(Map.of(
            "process.roles", first ? "broker,controller" : "broker", "node.id", String.valueOf(node.number()),
            "listeners", "CLIENT" + HOST + node.client() + ",INTERNAL" + HOST + node.internal() + (first ? own : ""),
            "advertised.listeners", "CLIENT" + HOST + node.advertised() + ",INTERNAL" + HOST + node.internal(),
            "listener.security.protocol.map", "CLIENT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name", "INTERNAL",
            "controller.listener.names", "CONTROLLER",
            "controller.quorum.voters", "1@127.0.0.1:" + controller,
            "log.dirs", folder.resolve(node.name()).toString()));
        settings.putAll(Map.of(
            "offsets.topic.num.partitions", "1", "offsets.topic.replication.factor", "1",
            "share.coordinator.state.topic.num.partitions", "1",
            "share.coordinator.state.topic.replication.factor", "1",
            "share.coordinator.state.topic.min.isr", "1",
            "transaction.state.log.replication.factor", "1", "transaction.state.log.min.isr", "1",
            "log.cleaner.dedupe.buffer.size", "2097152",
            "group.min.session.timeout.ms", "500",
            "group.initial.rebalance.delay.ms", String.valueOf(delay)));
        if (nodes.size() > 1) {
            // A broker that is silent for two seconds is fenced, and an append that long without a follower fails.
            settings.putAll(Map.of(
                "broker.session.timeout.ms", "2000", "broker.heartbeat.interval.ms", "400",
                "replica.lag.time.max.ms", "1500", "offsets.commit.timeout.ms", "1500"));
        }
        settings.put("group.share.min.record.lock.duration.ms", "1000");
        settings.put("group.share.record.lock.duration.ms", String.valueOf(LOCK_MS));
        for (String kind : List.of("consumer", "share")) {
            settings.put("group." + kind + ".min.session.timeout.ms", "500");
            settings.put("group." + kind + ".session.timeout.ms", String.valueOf(session));
            settings.put("group." + kind + ".min.heartbeat.interval.ms", "100");
            settings.put("group." + kind + ".heartbeat.interval.ms", String.valueOf(session / 4));
        }
        Path file = folder.resolve(node.name() + ".properties");
        try (var out = Files.newOutputStream(file)) {
            settings.store(out, null);
        }
        return file;
    }

    /** A broker in a process of its own, which ends with the one that started it. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) {
            Thread parent = new Thread(() -> {
                try {
                    while (System.in.read() >= 0) {
                        // Nothing is said; what matters is the end.
                    }
                } catch (IOException gone) {
                    // It is the end, too.
                }
                Runtime.getRuntime().halt(0);
            });
            parent.setDaemon(true);
            parent.start();
            kafka.Kafka.main(args);
        }
    }
}
