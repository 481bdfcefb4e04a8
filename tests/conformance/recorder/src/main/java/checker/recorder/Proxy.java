package checker.recorder;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.RequestHeader;

/**
 * Stands between brokers and their clients, and writes a line for what passes. The order of the lines is that in which
 * things pass, whichever broker it is: a line is written before what it tells of goes on.
 */
final class Proxy {
    private final PrintStream out;
    private final Wire wire = new Wire();
    private final Map<String, Set<Link>> links = new ConcurrentHashMap<>();
    private final Set<String> dead = ConcurrentHashMap.newKeySet();
    private final Set<String> dropping = ConcurrentHashMap.newKeySet();
    private final Map<String, Long> stalled = new ConcurrentHashMap<>();
    private int lines;
    private int connections;
    private long last;

    Proxy(PrintStream out) {
        this.out = out;
    }

    /** Passes on what comes to a port to the port of a broker, and calls it `node` in the lines. */
    void stand(int port, int broker, String node) throws IOException {
        ServerSocket server = new ServerSocket(port, 64, InetAddress.getLoopbackAddress());
        start(() -> accept(server, broker, node));
    }

    /** Breaks the connections of a client; it may come back. */
    void cut(String who) {
        note("Close", who, "cut");
        links.getOrDefault(who, Set.of()).forEach(Link::close);
    }

    /** Lets nothing of a client pass any more, as if its process had died. */
    void kill(String who) {
        dead.add(who);
        note("Close", who, "killed");
        links.getOrDefault(who, Set.of()).forEach(Link::close);
    }

    /** Swallows the next answer to a client and breaks the connection. */
    void drop(String who) {
        dropping.add(who);
    }

    /** Holds back what comes from and goes to a client for a while, as if its machine were paused. */
    void stall(String who, int milliseconds) {
        note("Stall", who, milliseconds + " ms");
        stalled.put(who, System.nanoTime() + milliseconds * 1_000_000L);
    }

    /** Returns when a client is not held back. */
    private void pass(String who) throws IOException {
        for (Long until = stalled.get(who); until != null && System.nanoTime() < until; until = stalled.get(who)) {
            try {
                Thread.sleep(5);
            } catch (InterruptedException over) {
                throw new IOException(over);
            }
        }
    }

    synchronized void note(String kind, String who, String text) {
        write(line("env", kind).put("who", who).put("x", text));
    }

    private ObjectNode line(String source, String kind) {
        Instant now = Instant.now();
        last = Math.max(last, now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000);
        return JsonNodeFactory.instance.objectNode().put("i", lines++).put("t_us", last).put("src", source).put("kind", kind);
    }

    private void write(ObjectNode line) {
        out.println(line);
    }

    private void accept(ServerSocket server, int broker, String node) throws IOException {
        while (true) {
            Socket client = server.accept();
            start(() -> {
                try {
                    Link link = new Link(client, new Socket(InetAddress.getLoopbackAddress(), broker), node, connection());
                    start(link::requests);
                    start(link::answers);
                } catch (IOException unreachable) {
                    client.close();
                }
            });
        }
    }

    private synchronized int connection() {
        return connections++;
    }

    private interface Loop {
        void run() throws IOException;
    }

    private static void start(Loop loop) {
        Thread thread = new Thread(() -> {
            try {
                loop.run();
            } catch (IOException closed) {
                // The other side is gone; its own loop ends the same way.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    /** One connection. */
    private final class Link {
        private final Socket client;
        private final Socket server;
        private final String node;
        private final int number;
        private final Map<Integer, RequestHeader> waiting = new ConcurrentHashMap<>();

        Link(Socket client, Socket server, String node, int number) throws IOException {
            this.client = client;
            this.server = server;
            this.node = node;
            this.number = number;
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
        }

        void close() {
            try {
                client.close();
                server.close();
            } catch (IOException ignored) {
                // It is closed then.
            }
        }

        void requests() throws IOException {
            try (Socket from = client; Socket to = server) {
                DataInputStream in = new DataInputStream(from.getInputStream());
                DataOutputStream on = new DataOutputStream(to.getOutputStream());
                while (true) {
                    byte[] frame = new byte[in.readInt()];
                    in.readFully(frame);
                    if (!isTold(frame)) {
                        return;
                    }
                    on.writeInt(frame.length);
                    on.write(frame);
                    on.flush();
                }
            }
        }

        /** Writes the line of a request; false where its client is dead. */
        private boolean isTold(byte[] frame) throws IOException {
            ApiKeys api = ApiKeys.forId(ByteBuffer.wrap(frame).getShort());
            ByteBuffer buffer = ByteBuffer.wrap(frame);
            RequestHeader header = RequestHeader.parse(buffer);
            String who = header.clientId();
            links.computeIfAbsent(who, name -> ConcurrentHashMap.newKeySet()).add(this);
            pass(who);
            if (dead.contains(who)) {
                return false;
            }
            if (Wire.isSeen(api)) {
                synchronized (Proxy.this) {
                    waiting.put(header.correlationId(), header);
                    ObjectNode line = line("wire", api.name).put("node", node).put("who", who).put("dir", "req")
                        .put("id", number + "." + header.correlationId());
                    write(line.setAll(wire.request(header, buffer)));
                }
            }
            return true;
        }

        void answers() throws IOException {
            try (Socket from = server; Socket to = client) {
                DataInputStream in = new DataInputStream(from.getInputStream());
                DataOutputStream on = new DataOutputStream(to.getOutputStream());
                while (true) {
                    byte[] frame = new byte[in.readInt()];
                    in.readFully(frame);
                    RequestHeader header = waiting.remove(ByteBuffer.wrap(frame).getInt());
                    if (header != null && !isPassed(header, frame)) {
                        return;
                    }
                    on.writeInt(frame.length);
                    on.write(frame);
                    on.flush();
                }
            }
        }

        /** Writes the line of an answer; false where it is swallowed. */
        private boolean isPassed(RequestHeader header, byte[] frame) throws IOException {
            pass(header.clientId());
            synchronized (Proxy.this) {
                String who = header.clientId();
                boolean dropped = dead.contains(who) || dropping.remove(who) || client.isClosed();
                ObjectNode line = line("wire", header.apiKey().name).put("node", node).put("who", who).put("dir", "resp")
                    .put("id", number + "." + header.correlationId());
                line.setAll(wire.answer(header, ByteBuffer.wrap(frame)));
                if (dropped) {
                    line.put("dropped", true);
                }
                write(line);
                return !dropped;
            }
        }
    }
}
