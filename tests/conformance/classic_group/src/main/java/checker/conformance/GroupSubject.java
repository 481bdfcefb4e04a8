package checker.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * A coordinator with one classic group, of any release: which id the model calls how, which request
 * waits for an answer on which connection, which appends are under way.
 */
public abstract class GroupSubject implements Protocol.Subject {
  protected static final String GROUP = "group";
  protected static final String PROTOCOL = "range";
  private static final String OTHER_PROTOCOL = "roundrobin";
  protected static final int SESSION_MS = 10_000;
  protected static final int REBALANCE_MS = 60_000;
  protected static final int NO_LIMIT = Integer.MAX_VALUE;

  private static final int EXTENSIONS = 30;

  /** A request that was taken. */
  public static final class Call {
    private final String client;
    private final int slot;
    private boolean open;

    private Call(JsonNode with) {
      client = with.get("client").asText();
      slot = with.get("slot").asInt();
      open = with.get("open").asBoolean();
    }
  }

  /** An append that is under way: its group record, and what ends it. */
  public interface Append {
    Map<String, Object> record();

    /** Whether the record says that a group came to be, or lost its last member. */
    boolean isOfNobody();

    int generation();

    /** The coordinator moves while it is under way; whether the record is in the log is open. */
    void abandon();

    /** End it; the record is in the log if it was written. */
    void end(String outcome, boolean written);
  }

  protected final boolean appendOutlivesSession;

  /** How many protocols clients list; of two, a subscription says which and in which order. */
  protected final int protocols;

  /** How often the initial delay can be extended; 0 is: as Kafka is set, and not modelled. */
  protected final int extensions;

  private final boolean emptyIsAppended;
  private final boolean creationIsAppended;
  private final Map<String, String> ids = new HashMap<>();
  private final Map<String, String> names = new HashMap<>();
  private final List<Call> calls = new ArrayList<>();
  private final Map<String, Map<Integer, Supplier<Map<String, Object>>>> answers = new TreeMap<>();
  private final Deque<Append> appends = new ArrayDeque<>();
  private boolean away;

  protected GroupSubject(JsonNode with) {
    Numbers.reset();
    with.get("clients").forEach(client -> answers.put(client.asText(), new TreeMap<>()));
    emptyIsAppended = with.get("empty_is_appended").asBoolean();
    creationIsAppended = with.get("creation_is_appended").asBoolean();
    appendOutlivesSession = with.get("append_outlives_session").asBoolean();
    protocols = with.path("protocols").asInt(1);
    extensions = with.path("delay_extensions").asInt(0);
    open(limit(with));
  }

  private static int limit(JsonNode with) {
    int said = with.get("max_size").asInt();
    return said == 0 ? NO_LIMIT : said;
  }

  // ------------------------------------------------------------------ what each release does

  /** Make a coordinator that knows no group. */
  protected abstract void open(int maxSize);

  protected abstract void join(
      Call call, boolean old, String instance, String member, int subscription) throws Exception;

  protected abstract void sync(
      Call call, String instance, String member, int generation, String owner) throws Exception;

  protected abstract void heartbeat(Call call, String instance, String member, int generation)
      throws Exception;

  protected abstract void leave(String instance, String member) throws Exception;

  protected abstract void commit(Call call, String instance, String member, int generation)
      throws Exception;

  /** Remove a member as an administrator does, by its instance where it has one. */
  protected abstract void remove(String member) throws Exception;

  protected abstract void deleteGroup() throws Exception;

  protected abstract void unload() throws Exception;

  /** Let a new coordinator read the log. */
  protected abstract void load(int maxSize) throws Exception;

  /** Let the join timer fire; return whether it was set again for new members. */
  protected abstract boolean fireJoin() throws Exception;

  protected abstract void fireMember(String member) throws Exception;

  protected abstract void fireSync() throws Exception;

  /** Let the timers of members that wait and are not new fire: that must change nothing. */
  protected abstract void fireWaiting() throws Exception;

  /** Return the ids of all members and of all that wait to be joined with. */
  protected abstract Collection<String> known();

  protected abstract Map<String, Object> seen();

  // ------------------------------------------------------------------ ids, answers, appends

  /** Return the protocols that a subscription stands for, the one that is preferred first. */
  protected final List<String> listed(int subscription) {
    if (protocols == 1) {
      return List.of(PROTOCOL);
    }
    return switch (subscription) {
      case 0 -> List.of(PROTOCOL);
      case 1 -> List.of(OTHER_PROTOCOL);
      case 2 -> List.of(PROTOCOL, OTHER_PROTOCOL);
      default -> List.of(OTHER_PROTOCOL, PROTOCOL);
    };
  }

  /** Return Kafka's id for one of the model's, or an empty text. */
  protected final String id(JsonNode name) {
    return name == null || name.isNull() ? "" : ids.get(name.asText());
  }

  /** Return what the model calls one of Kafka's ids; none is null. */
  protected final String name(String id) {
    return id == null || id.isEmpty() ? null : names.getOrDefault(id, "?" + id);
  }

  protected final Set<String> names(Collection<String> of) {
    Set<String> found = new TreeSet<>();
    of.forEach(id -> found.add(name(id)));
    return found;
  }

  /**
   * Answer a request; the message is made when ids that this step issues have their names. A second
   * answer has no request that a client could match it to.
   */
  protected final void answer(Call call, Supplier<Map<String, Object>> message) {
    if (calls.remove(call) && call.open) {
      answers.get(call.client).put(call.slot, message);
    }
  }

  /** A client hangs up: what is under way to it is lost, and all that would be. */
  private void close(String client) {
    answers.get(client).clear();
    calls.stream().filter(call -> call.client.equals(client)).forEach(call -> call.open = false);
  }

  protected final Map<String, Object> message(String kind, String error) {
    Map<String, Object> found = new HashMap<>();
    found.put("kind", kind);
    found.put("error", "NOT_COORDINATOR".equals(error) ? "COORDINATOR_NOT_AVAILABLE" : error);
    return found;
  }

  /** Keep an append until the model ends it; one that the model leaves out succeeds at once. */
  protected final void begin(Append append) {
    boolean creation = append.isOfNobody() && append.generation() == 0;
    boolean modelled = !append.isOfNobody() || (creation ? creationIsAppended : emptyIsAppended);
    if (modelled) {
      appends.add(append);
    } else {
      append.end("ok", true);
    }
  }

  /** How many appends are under way. */
  protected final int appending() {
    return appends.size();
  }

  private static String text(JsonNode value) {
    return value == null || value.isNull() ? null : value.asText();
  }

  @Override
  public final Object call(String called, JsonNode with) throws Exception {
    step(called, with);
    if (!away) {
      fireWaiting();
      issue(with.get("issued"));
    }
    return null;
  }

  @Override
  public final Object complete(String operation, String outcome, JsonNode with) throws Exception {
    appends.remove().end(outcome, with.get("written").asBoolean());
    if (!away) {
      fireWaiting();
    }
    return null;
  }

  private void step(String called, JsonNode with) throws Exception {
    switch (called) {
      case "join", "sync", "heartbeat", "leave", "commit" -> request(called, with);
      case "take" -> {
        answers.get(text(with.get("client"))).remove(with.get("slot").asInt());
        if (with.path("closes").asBoolean()) {
          close(text(with.get("client")));
        }
      }
      case "close" -> close(text(with.get("client")));
      case "remove" -> remove(id(with.get("member")));
      case "delete_group" -> deleteGroup();
      case "unload" -> {
        appends.forEach(Append::abandon);
        unload();
        away = true;
      }
      case "load" -> {
        load(limit(with));
        away = false;
      }
      case "initial_delay" -> {
        for (int turn = 0; fireJoin() && extensions == 0; turn++) {
          if (turn == EXTENSIONS) {
            throw new IllegalStateException("the initial delay does not end");
          }
        }
      }
      case "join_timer" -> fireJoin();
      case "member_timer" -> fireMember(id(with.get("member")));
      case "sync_timer" -> fireSync();
      default -> throw new IllegalArgumentException("no call is named " + called);
    }
  }

  private void request(String called, JsonNode with) throws Exception {
    Call call = new Call(with);
    calls.add(call);
    if (away) {
      answer(call, elsewhere(called, with));
      return;
    }
    String instance = text(with.get("instance"));
    String member = id(with.get("member"));
    switch (called) {
      case "join" ->
          join(call, with.get("old").asBoolean(), instance, member,
              with.get("subscription").asInt());
      case "sync" ->
          sync(call, instance, member, with.get("generation").asInt(), id(with.get("owner")));
      case "heartbeat" -> heartbeat(call, instance, member, with.get("generation").asInt());
      case "leave" -> {
        leave(instance, member);
        answer(call, () -> Map.of("kind", "LeaveResponse"));
      }
      default -> commit(call, instance, member, with.get("generation").asInt());
    }
  }

  /** What a broker answers for a group that it has lost, without asking its coordinator. */
  private Supplier<Map<String, Object>> elsewhere(String called, JsonNode with) {
    String error = "NOT_COORDINATOR";
    switch (called) {
      case "join":
        Map<String, Object> joined = message("JoinResponse", error);
        joined.putAll(Map.of("generation", 0, "members", List.of(), "skip_assignment", false));
        joined.put("member", null);
        joined.put("leader", null);
        return () -> joined;
      case "sync":
        Map<String, Object> synced = message("SyncResponse", error);
        synced.put("assigned", false);
        return () -> synced;
      case "heartbeat":
        Map<String, Object> heard = message("HeartbeatResponse", error);
        heard.put("member", text(with.get("member")));
        heard.put("generation", with.get("generation").asInt());
        return () -> heard;
      case "leave":
        return () -> Map.of("kind", "LeaveResponse");
      default:
        return () -> message("CommitResponse", error);
    }
  }

  /** Give the names that the model has issued to the ids that the class has issued. */
  private void issue(JsonNode issued) {
    Deque<String> free = new ArrayDeque<>();
    if (issued != null) {
      issued.forEach(name -> free.add(name.asText()));
    }
    for (String id : known()) {
      if (!names.containsKey(id) && !free.isEmpty()) {
        String name = free.remove();
        names.remove(ids.put(name, id));
        names.put(id, name);
      }
    }
  }

  @Override
  public final Map<String, Object> observe() {
    Map<String, Object> fields = new HashMap<>();
    fields.put("group", away ? "Dead" : "Empty");
    fields.put("exists", false);
    fields.put("generation", 0);
    for (String none : List.of("leader", "owner")) {
      fields.put(none, null);
    }
    for (String nothing : List.of("members", "static")) {
      fields.put(nothing, Map.of());
    }
    for (String nobody :
        List.of("pending", "new", "timers", "parked_join", "parked_sync", "pending_sync")) {
      fields.put(nobody, Set.of());
    }
    fields.put("protocol", 0);
    for (String no : List.of("initial_delay", "new_member_added", "join_timer", "sync_timer")) {
      fields.put(no, false);
    }
    if (!away) {
      fields.putAll(seen());
    }
    List<Object> responses = new ArrayList<>();
    answers.values().forEach(of -> of.values().forEach(message -> responses.add(message.get())));
    fields.put("responses", responses);
    fields.put("appends", appends.stream().map(Append::record).toList());
    return fields;
  }
}
