package checker.recorder;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;

/**
 * Starts a broker in this process, a consumer of the classic protocol, and a second and a half later one of the new
 * protocol in the same group, while the first rebalance of the group still waits for others (3 s by default).
 *
 * <p>Prints what becomes of either.
 */
public final class EarlyUpgrade {
    private static final int DELAY_MS = 3_000;
    private static final int SESSION_MS = 45_000;

    private EarlyUpgrade() {}

    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("early-upgrade");
        int client = Cluster.free();
        Cluster cluster = Cluster.single(folder, client, client, SESSION_MS, DELAY_MS);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + cluster.internal()))) {
            Consuming.createTopic(admin, 2);
        }
        Consuming consuming = new Consuming(client);
        consuming.start("first", "classic", "before", 8).join(); // the coordinator's partition is created and loaded
        Thread old = consuming.start("classic", "classic", "group", 12);
        Thread.sleep(DELAY_MS / 2);
        Thread young = consuming.start("consumer", "consumer", "group", 10);
        old.join();
        young.join();
        consuming.tell();
    }
}
