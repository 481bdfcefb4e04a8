package kafka.server.share;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads cases from standard input, makes the calls of each on a SharePartition of its own, and
 * compares what the class looks like after every call with what the model says.
 *
 * <p>A case begins with "case RECORDS IN_FLIGHT_LIMIT DELIVERY_LIMIT BATCH_SIZE LOG_BATCH"; its other
 * lines are a call, what is to be seen, and the number of writes under way, separated by tabs.
 */
public final class Driver {
  private static final int SHOWN = 2;

  private final Map<String, Integer> mismatches = new TreeMap<>();
  private final List<String> history = new ArrayList<>();
  private int cases;
  private int steps;
  private Subject subject;

  public static void main(String[] arguments) throws Exception {
    Driver driver = new Driver();
    driver.readAll(new BufferedReader(new InputStreamReader(System.in)));
    int wrong = driver.mismatches.values().stream().mapToInt(Integer::intValue).sum();
    System.out.printf(
        "%d cases, %d calls, %d mismatches %s%n",
        driver.cases, driver.steps, wrong, wrong == 0 ? "" : driver.mismatches);
    System.exit(0);
  }

  private void readAll(BufferedReader input) throws IOException, ReflectiveOperationException {
    String line;
    while ((line = input.readLine()) != null) {
      if (line.startsWith("case ")) {
        subject = new Subject(line.split(" "));
        history.clear();
        cases++;
      } else if (subject != null && !agrees(line.split("\t"))) {
        subject = null; // what follows a mismatch says nothing
      }
    }
  }

  private boolean agrees(String[] expected) throws ReflectiveOperationException {
    String complaint = subject.call(expected[0].split(" "));
    String seen = subject.observe();
    steps++;
    history.add(expected[0] + "  => " + seen);
    boolean same = seen.equals(expected[1]) && subject.writes() == Integer.parseInt(expected[2]);
    if (same && complaint.isEmpty()) {
      return true;
    }
    String kind = expected[0].split(" ")[0] + (complaint.isEmpty() ? "" : ": " + complaint);
    if (mismatches.merge(kind, 1, Integer::sum) <= SHOWN) {
      System.out.printf("MISMATCH %s%n", kind);
      history.forEach(step -> System.out.println("  " + step));
      System.out.printf(
          "  the model: %s, writes %s (seen: %d)%n", expected[1], expected[2], subject.writes());
    }
    return false;
  }
}
