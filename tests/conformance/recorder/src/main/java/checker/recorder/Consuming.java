package checker.recorder;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.ShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Consumers in threads of their own, and what becomes of them: the partitions of each, or the exception that ended it. */
final class Consuming {
    static final String TOPIC = "t";

    private final int port;
    private final ConcurrentLinkedQueue<String> said = new ConcurrentLinkedQueue<>();

    Consuming(int port) {
        this.port = port;
    }

    /** Creates the topic that all of them read, and waits until it is there. */
    static void createTopic(Admin admin, int partitions) throws Exception {
        admin.createTopics(List.of(new NewTopic(TOPIC, partitions, (short) 1))).all().get(60, TimeUnit.SECONDS);
    }

    /** Writes one to six records at a time to one partition after the other, five times a second, without an end. */
    static void produce(int port, int partitions) {
        Thread thread = new Thread(() -> {
            try (Producer<byte[], byte[]> producer = new KafkaProducer<>(Map.<String, Object>of("bootstrap.servers", "127.0.0.1:" + port),
                    new ByteArraySerializer(), new ByteArraySerializer())) {
                for (int number = 0; true; number++) {
                    for (int record = 0; record <= number * 7 % 6; record++) {
                        producer.send(new ProducerRecord<>(TOPIC, number % partitions, null, new byte[0]));
                    }
                    Thread.sleep(200);
                }
            } catch (InterruptedException over) {
                // Nobody reads any more.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    /** Polls for a time with the defaults, or reads as a member of a share group; `name` is also the client's id. */
    Thread start(String name, String protocol, String group, int seconds) {
        return start(name, protocol, group, seconds, Map.of());
    }

    /** The same of a static member. */
    Thread start(String name, String protocol, String group, int seconds, String instance) {
        return start(name, protocol, group, seconds, Map.of("group.instance.id", instance));
    }

    private Thread start(String name, String protocol, String group, int seconds, Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.putAll(Map.of("bootstrap.servers", "127.0.0.1:" + port, "client.id", name, "group.id", group));
        boolean share = protocol.equals("share");
        if (!share) {
            settings.put("group.protocol", protocol);
        }
        Thread thread = new Thread(() ->
            said.add(group + " " + name + " " + (share ? read(settings, seconds) : poll(settings, seconds))));
        thread.start();
        return thread;
    }

    private static String read(Map<String, Object> settings, int seconds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        Set<Integer> seen = new HashSet<>();
        try (ShareConsumer<byte[], byte[]> consumer =
                new KafkaShareConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(TOPIC));
            while (System.nanoTime() < end) {
                consumer.poll(Duration.ofMillis(100)).forEach(record -> seen.add(record.partition()));
            }
            return "has read of " + seen.size() + " partitions";
        } catch (KafkaException ended) {
            return "ended: " + ended.getClass().getSimpleName();
        }
    }

    private static String poll(Map<String, Object> settings, int seconds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        Set<TopicPartition> assigned = Set.of();
        try (Consumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(TOPIC));
            while (System.nanoTime() < end) {
                consumer.poll(Duration.ofMillis(100));
                assigned = Set.copyOf(consumer.assignment());
            }
            return "has " + assigned.size() + " partitions";
        } catch (KafkaException ended) {
            return "ended: " + ended.getClass().getSimpleName();
        }
    }

    /** Prints a line for each, in the order in which they ended, and ends the process. */
    void tell() {
        said.forEach(System.out::println);
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
