package checker.recorder;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;

/**
 * Starts a broker in this process and two consumers of the classic protocol in one group, of which one is static. That
 * one closes, which the coordinator does not hear of; then the other one does, and leaves. The static one is started
 * again, with the new protocol.
 *
 * <p>Prints who is a member of the group in the end, and what becomes of all three.
 */
public final class EndedRebalance {
    private static final int SESSION_MS = 45_000;
    private static final int PARTITIONS = 4;
    private static final int SECONDS = 30;

    private EndedRebalance() {}

    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("ended-rebalance");
        int client = Cluster.free();
        Cluster cluster = Cluster.single(folder, client, client, SESSION_MS, 0);
        Consuming consuming = new Consuming(client);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + cluster.internal()))) {
            Consuming.createTopic(admin, PARTITIONS);
            consuming.start("first", "classic", "before", 8).join(); // the coordinator's partition is created and loaded
            Thread old = consuming.start("old", "classic", "group", SECONDS, "instance");
            consuming.start("other", "classic", "group", SECONDS + 3).join();
            old.join();
            Thread young = consuming.start("young", "consumer", "group", SECONDS + 3, "instance");
            Thread.sleep(1_000L * SECONDS);
            admin.describeConsumerGroups(List.of("group")).all().get(30, TimeUnit.SECONDS).get("group").members().forEach(member ->
                System.out.println("group " + member.clientId() + " is a member and has "
                    + member.assignment().topicPartitions().size() + " partitions"));
            young.join();
        }
        consuming.tell();
    }
}
