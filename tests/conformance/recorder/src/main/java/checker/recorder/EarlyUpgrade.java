package checker.recorder;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Starts a broker in this process, a consumer of the classic protocol, and a second and a half later one of the new
 * protocol in the same group, while the first rebalance of the group still waits for others (3 s by default).
 *
 * <p>Prints what becomes of either: the partitions that it has in the end, or the exception that ended it.
 */
public final class EarlyUpgrade {
    private static final String TOPIC = "t";
    private static final int DELAY_MS = 3_000;
    private static final int SESSION_MS = 45_000;

    private EarlyUpgrade() {}

    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("early-upgrade");
        int client = Recorder.free();
        int internal = Recorder.free();
        Recorder.startBroker(folder, client, client, internal, SESSION_MS, DELAY_MS);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + internal))) {
            admin.createTopics(List.of(new NewTopic(TOPIC, 2, (short) 1))).all().get(60, TimeUnit.SECONDS);
        }
        consume("classic", "before", client, 8).join(); // the coordinator's partition is created and loaded
        Thread old = consume("classic", "group", client, 12);
        Thread.sleep(DELAY_MS / 2);
        Thread young = consume("consumer", "group", client, 10);
        old.join();
        young.join();
        said.forEach(System.out::println);
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static final ConcurrentLinkedQueue<String> said = new ConcurrentLinkedQueue<>();

    private static Thread consume(String protocol, String group, int port, int seconds) {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", "127.0.0.1:" + port, "group.id", group, "group.protocol", protocol);
        Thread thread = new Thread(() -> {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
            Set<TopicPartition> assigned = Set.of();
            try (Consumer<byte[], byte[]> consumer =
                    new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                consumer.subscribe(List.of(TOPIC));
                while (System.nanoTime() < end) {
                    consumer.poll(Duration.ofMillis(100));
                    assigned = Set.copyOf(consumer.assignment());
                }
                said.add(group + " " + protocol + " has " + assigned.size() + " partitions");
            } catch (KafkaException ended) {
                said.add(group + " " + protocol + " ended: " + ended.getClass().getSimpleName());
            }
        });
        thread.start();
        return thread;
    }
}
