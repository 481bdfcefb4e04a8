package checker.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Properties;

/**
 * The adapter's side of the line protocol of docs/conformance.md: a JSON object a line, a reply to
 * each. What a subject throws is an unexpected failure of the implementation.
 */
public final class Protocol {
  private static final int VERSION = 1;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String name;
  private final String version;
  private final Factory factory;
  private Subject subject;

  private Protocol(String name, String version, Factory factory) {
    this.name = name;
    this.version = version;
    this.factory = factory;
  }

  /** An implementation between two resets. */
  public interface Subject {
    /** Make a call, or let a timer fire; return the answer, which may be null. */
    Object call(String called, JsonNode with) throws Exception;

    /** End an operation that the implementation has begun. */
    default Object complete(String operation, String outcome, JsonNode with) throws Exception {
      throw new IllegalArgumentException("no operation is called " + operation);
    }

    /** Return what can be seen. */
    Map<String, Object> observe() throws Exception;
  }

  /** Makes a subject with the arguments of a reset. */
  public interface Factory {
    Subject reset(JsonNode with) throws Exception;
  }

  /** Answer requests until standard input ends; what is printed goes to standard error. */
  public static void serve(String name, String version, Factory factory) throws IOException {
    PrintStream replies =
        new PrintStream(
            new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    System.setOut(System.err);
    Protocol protocol = new Protocol(name, version, factory);
    BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String line;
    while ((line = requests.readLine()) != null) {
      replies.print(JSON.writeValueAsString(protocol.reply(line)) + "\n");
      replies.flush();
    }
    System.exit(0);
  }

  /** The release of Kafka, as its jar of clients says. */
  public static String kafka() throws IOException {
    Properties said = new Properties();
    try (InputStream file = Protocol.class.getResourceAsStream("/kafka/kafka-version.properties")) {
      said.load(file);
    }
    return said.getProperty("version").strip();
  }

  private Map<String, Object> reply(String line) {
    try {
      return answer(JSON.readTree(line));
    } catch (Exception | AssertionError failure) {
      return Map.of("error", failure.getClass().getSimpleName() + ": " + failure.getMessage());
    }
  }

  private Map<String, Object> answer(JsonNode request) throws Exception {
    JsonNode with =
        request.has("with") ? request.get("with") : JsonNodeFactory.instance.objectNode();
    String called = request.path("name").asText();
    switch (request.get("do").asText()) {
      case "hello":
        return Map.of("protocol", VERSION, "name", name, "version", version, "snapshots", false);
      case "reset":
        subject = factory.reset(with);
        return Map.of();
      case "call":
      case "fire":
        return Collections.singletonMap("answer", subject.call(called, with));
      case "complete":
        String outcome = request.get("outcome").asText();
        return Collections.singletonMap("answer", subject.complete(called, outcome, with));
      case "observe":
        return Map.of("fields", subject.observe());
      default:
        throw new IllegalArgumentException("nothing is known of " + request.get("do"));
    }
  }
}
