package checker.recorder;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Starts a broker in this process and a consumer, which closes while the coordinator's log takes no records, for a
 * second. Then another one subscribes for five times the session timeout.
 *
 * <p>Argument: its protocol, `consumer` or `share`. Prints who is a member at the end of that time, and what becomes of
 * the second consumer.
 */
public final class RolledBackLeave {
    private static final int SESSION_MS = 4_000;
    private static final int PARTITIONS = 3;
    private static final String GROUP = "group";
    private static final String OFFSETS = "__consumer_offsets";
    private static final ConfigResource TOPIC = new ConfigResource(ConfigResource.Type.TOPIC, OFFSETS);

    private RolledBackLeave() {}

    public static void main(String[] args) throws Exception {
        boolean share = args[0].equals("share");
        Path folder = Files.createTempDirectory("rolled-back-leave");
        int client = Cluster.free();
        Cluster cluster = Cluster.single(folder, client, client, SESSION_MS, 0);
        Consuming consuming = new Consuming(client);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + cluster.internal()))) {
            Consuming.createTopic(admin, PARTITIONS);
            if (share) {
                Consuming.produce(cluster.internal(), PARTITIONS); // what its members have shows in what they read
            }
            Thread first = consuming.start("first", args[0], GROUP, 10);
            Thread.sleep(8_000);
            set(admin, AlterConfigOp.OpType.SET);
            first.join();
            Thread.sleep(1_000);
            set(admin, AlterConfigOp.OpType.DELETE);
            Thread second = consuming.start("second", args[0], GROUP, 5 * SESSION_MS / 1_000);
            Thread.sleep(5 * SESSION_MS - 1_000);
            if (share) {
                described(admin.describeShareGroups(List.of(GROUP)).all()).members().forEach(member ->
                    tell(member.clientId(), member.memberEpoch(), member.assignment().topicPartitions().size()));
            } else {
                described(admin.describeConsumerGroups(List.of(GROUP)).all()).members().forEach(member ->
                    tell(member.clientId(), member.memberEpoch().orElse(-1), member.assignment().topicPartitions().size()));
            }
            second.join();
        }
        consuming.tell();
    }

    private static <T> T described(KafkaFuture<Map<String, T>> asked) throws Exception {
        return asked.get(30, TimeUnit.SECONDS).get(GROUP);
    }

    private static void tell(String name, int epoch, int partitions) {
        System.out.println(GROUP + " " + name + " is a member of epoch " + epoch + " and has " + partitions + " partitions");
    }

    private static void set(Admin admin, AlterConfigOp.OpType type) throws Exception {
        admin.incrementalAlterConfigs(Map.of(TOPIC, List.of(new AlterConfigOp(new ConfigEntry("max.message.bytes", "90"), type))))
            .all().get(30, TimeUnit.SECONDS);
    }
}
