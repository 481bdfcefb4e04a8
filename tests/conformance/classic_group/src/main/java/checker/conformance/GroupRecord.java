package checker.conformance;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;

/** The record of a group as the model shows it. */
public final class GroupRecord {
  private GroupRecord() {}

  /** Return what stands in a record, with the model's names for ids. */
  public static Map<String, Object> seen(GroupMetadataValue value, UnaryOperator<String> name) {
    Map<String, Object> found = new HashMap<>();
    Map<String, Object> members = new TreeMap<>();
    Map<String, Object> instances = new TreeMap<>();
    found.put("generation", value.generation());
    found.put("leader", name.apply(value.leader()));
    found.put("members", members);
    found.put("static", instances);
    found.put("owner", null);
    for (var member : value.members()) {
      members.put(name.apply(member.memberId()), number(member.subscription()));
      if (member.groupInstanceId() != null) {
        instances.put(member.groupInstanceId(), name.apply(member.memberId()));
      }
      if (member.assignment().length > 0) {
        found.put("owner", name.apply(member.memberId()));
      }
    }
    return found;
  }

  /** What a member that subscribes to something says of it. */
  public static byte[] subscription(int number) {
    return Integer.toString(number).getBytes(StandardCharsets.UTF_8);
  }

  /** The number of a subscription. */
  public static int number(byte[] subscription) {
    return Integer.parseInt(new String(subscription, StandardCharsets.UTF_8));
  }
}
