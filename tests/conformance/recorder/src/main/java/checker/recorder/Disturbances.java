package checker.recorder;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/**
 * What happens to a coordinator, at random: it moves; its broker is paused until another one has taken over, and wakes;
 * its log takes no records; its follower is paused, so that no record is committed in time.
 *
 * <p>The coordinators' partitions are on the second and the third broker. One thing happens at a time.
 */
final class Disturbances {
    enum Kind { MOVES, PAUSES, LIMITS, LAGS }

    private static final List<Integer> REPLICAS = List.of(2, 3);
    /** Longer than a broker's session with the controller, and its successor's load. */
    private static final int PAUSE_MS = 5_000;
    private static final int LIMIT_MS = 1_000;
    /** In which what happened has passed. */
    private static final int REST_MS = 2_000;

    private final Cluster cluster;
    private final Admin admin;
    private final Proxy proxy;
    private final String topic;
    private final List<Kind> kinds;
    private final Random chance;
    private long over;

    Disturbances(Cluster cluster, Admin admin, Proxy proxy, String topic, Set<Kind> kinds, Random chance) {
        this.cluster = cluster;
        this.admin = admin;
        this.proxy = proxy;
        this.topic = topic;
        this.kinds = new ArrayList<>(kinds);
        this.chance = chance;
    }

    /** Creates a coordinators' topic where it can be disturbed. */
    static void create(Admin admin, String topic) throws Exception {
        NewTopic created = new NewTopic(topic, Map.of(0, REPLICAS));
        created.configs(Map.of("cleanup.policy", "compact", "min.insync.replicas", "1"));
        admin.createTopics(List.of(created)).all().get(60, TimeUnit.SECONDS);
    }

    /** Does one of them, unless another is under way. */
    void next() throws Exception {
        if (kinds.isEmpty() || System.nanoTime() < over) {
            return;
        }
        Node node = leader();
        if (node == null) {
            return;
        }
        int leader = node.id();
        int other = REPLICAS.get(0) == leader ? REPLICAS.get(1) : REPLICAS.get(0);
        switch (kinds.get(chance.nextInt(kinds.size()))) {
            case MOVES -> move(leader, other);
            case PAUSES -> pause(leader, "coordinator");
            case LIMITS -> limit();
            case LAGS -> lag(other);
        }
    }

    /** The coordinator; null while there is none. */
    private Node leader() throws Exception {
        return admin.describeTopics(List.of(topic)).allTopicNames().get(30, TimeUnit.SECONDS)
            .get(topic).partitions().get(0).leader();
    }

    private void move(int from, int to) throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        admin.alterPartitionReassignments(Map.of(partition, Optional.of(new NewPartitionReassignment(List.of(to, from)))))
            .all().get(30, TimeUnit.SECONDS);
        proxy.note("Move", "b" + to, topic);
        try {
            admin.electLeaders(ElectionType.PREFERRED, Set.of(partition)).all().get(30, TimeUnit.SECONDS);
        } catch (ExecutionException notInSync) {
            proxy.note("Stay", "b" + from, notInSync.getCause().getMessage());
        }
        rest(0);
    }

    private void pause(int number, String what) throws IOException {
        proxy.note("Pause", "b" + number, what + " " + PAUSE_MS + " ms");
        cluster.pause(number, PAUSE_MS);
        after(PAUSE_MS, () -> proxy.note("Wake", "b" + number, what));
        rest(PAUSE_MS);
    }

    private void limit() throws Exception {
        set("max.message.bytes", "90");
        proxy.note("Limit", topic, "max.message.bytes=90");
        after(LIMIT_MS, () -> {
            delete("max.message.bytes");
            proxy.note("NoLimit", topic, "");
        });
        rest(LIMIT_MS);
    }

    private void lag(int follower) throws Exception {
        set("min.insync.replicas", "2");
        pause(follower, "follower");
        after(PAUSE_MS + REST_MS / 2, () -> set("min.insync.replicas", "1"));
    }

    private void rest(int milliseconds) {
        over = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds + REST_MS);
    }

    private void set(String name, String value) throws Exception {
        alter(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET));
    }

    private void delete(String name) throws Exception {
        alter(new AlterConfigOp(new ConfigEntry(name, ""), AlterConfigOp.OpType.DELETE));
    }

    private void alter(AlterConfigOp change) throws Exception {
        admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.TOPIC, topic), List.of(change)))
            .all().get(30, TimeUnit.SECONDS);
    }

    private interface Late {
        void run() throws Exception;
    }

    private static void after(int milliseconds, Late late) {
        Thread thread = new Thread(() -> {
            try {
                Thread.sleep(milliseconds);
                late.run();
            } catch (Exception failed) {
                System.err.println("not undone: " + failed);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
