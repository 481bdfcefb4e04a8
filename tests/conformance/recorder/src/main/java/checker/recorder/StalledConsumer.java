package checker.recorder;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;

/**
 * Starts a broker in this process and two groups, each with a consumer of the classic protocol; in one there is one of
 * the new protocol, in the other there are two. One of the new protocol in each is cut off from the broker for longer
 * than its session, and then not any more.
 *
 * <p>Prints what becomes of all five.
 */
public final class StalledConsumer {
    private static final int SESSION_MS = 4_000;
    private static final int SECONDS = 30;

    private StalledConsumer() {}

    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("stalled-consumer");
        int client = Cluster.free();
        int advertised = Cluster.free();
        Cluster cluster = Cluster.single(folder, client, advertised, SESSION_MS, 0);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + cluster.internal()))) {
            Consuming.createTopic(admin, 3);
        }
        Proxy proxy = new Proxy(new PrintStream(OutputStream.nullOutputStream()));
        proxy.stand(advertised, client, "b1");
        Consuming consuming = new Consuming(advertised);
        consuming.start("first", "classic", "before", 8).join(); // the coordinator's partition is created and loaded
        List<Thread> old = List.of(
            consuming.start("classic", "classic", "one", SECONDS), consuming.start("classic2", "classic", "two", SECONDS));
        Thread.sleep(SESSION_MS);
        List<Thread> young = List.of(
            consuming.start("stalled", "consumer", "one", SECONDS - 5),
            consuming.start("stalled2", "consumer", "two", SECONDS - 5),
            consuming.start("other2", "consumer", "two", SECONDS - 5));
        Thread.sleep(2 * SESSION_MS);
        proxy.stall("stalled", 2 * SESSION_MS);
        proxy.stall("stalled2", 2 * SESSION_MS);
        for (Thread thread : young) {
            thread.join();
        }
        for (Thread thread : old) {
            thread.join();
        }
        consuming.tell();
    }
}
