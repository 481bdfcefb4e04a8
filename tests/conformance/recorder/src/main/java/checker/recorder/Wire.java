package checker.recorder;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupRequestData;
import org.apache.kafka.common.message.ShareAcknowledgeRequestData;
import org.apache.kafka.common.message.ShareAcknowledgeResponseData;
import org.apache.kafka.common.message.ShareFetchRequestData;
import org.apache.kafka.common.message.ShareFetchResponseData;
import org.apache.kafka.common.message.ShareGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ShareGroupHeartbeatResponseData;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestHeader;

/** What a request or answer of groups and their records says, as fields of a line. */
final class Wire {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private final Map<String, String> names = new HashMap<>();
    private final Map<String, Integer> incarnations = new HashMap<>();

    static boolean isSeen(ApiKeys api) {
        return switch (api) {
            case JOIN_GROUP, SYNC_GROUP, HEARTBEAT, LEAVE_GROUP, CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT,
                SHARE_FETCH, SHARE_ACKNOWLEDGE -> true;
            default -> false;
        };
    }

    /** The fields of a request; `frame` begins with its header. */
    ObjectNode request(RequestHeader header, ByteBuffer frame) {
        ApiMessage data = AbstractRequest.parseRequest(
            header.apiKey(), header.apiVersion(), new org.apache.kafka.common.protocol.ByteBufferAccessor(frame)).request.data();
        ObjectNode line = JSON.objectNode();
        String who = header.clientId();
        if (data instanceof ConsumerGroupHeartbeatRequestData d) {
            line.put("m", name(who, d.memberId())).put("epoch", d.memberEpoch());
            if (d.topicPartitions() != null) {
                ArrayNode owned = line.putArray("owned");
                d.topicPartitions().forEach(topic -> topic.partitions().forEach(owned::add));
            }
            putNames(line, "sub", d.subscribedTopicNames());
            if (d.rebalanceTimeoutMs() >= 0) {
                line.put("rebalance_ms", d.rebalanceTimeoutMs());
            }
        } else if (data instanceof ShareGroupHeartbeatRequestData d) {
            line.put("m", name(who, d.memberId())).put("epoch", d.memberEpoch());
            putNames(line, "sub", d.subscribedTopicNames());
        } else if (data instanceof ShareFetchRequestData d) {
            line.put("m", name(who, d.memberId())).put("sess", d.shareSessionEpoch());
            ArrayNode acks = line.putArray("acks");
            ArrayNode parts = line.putArray("parts");
            d.topics().forEach(topic -> topic.partitions().forEach(one -> {
                parts.add(one.partitionIndex());
                ArrayNode batches = JSON.arrayNode();
                one.acknowledgementBatches().forEach(batch ->
                    batches(batches, batch.firstOffset(), batch.lastOffset(), batch.acknowledgeTypes()));
                acknowledged(acks, one.partitionIndex(), batches);
            }));
        } else if (data instanceof ShareAcknowledgeRequestData d) {
            line.put("m", name(who, d.memberId())).put("sess", d.shareSessionEpoch());
            ArrayNode acks = line.putArray("acks");
            d.topics().forEach(topic -> topic.partitions().forEach(one -> {
                ArrayNode batches = JSON.arrayNode();
                one.acknowledgementBatches().forEach(batch ->
                    batches(batches, batch.firstOffset(), batch.lastOffset(), batch.acknowledgeTypes()));
                acknowledged(acks, one.partitionIndex(), batches);
            }));
        } else if (data instanceof JoinGroupRequestData d) {
            line.put("m", name(who, d.memberId())).put("session_ms", d.sessionTimeoutMs())
                .put("rebalance_ms", d.rebalanceTimeoutMs()).put("reason", d.reason());
        } else if (data instanceof SyncGroupRequestData d) {
            line.put("m", name(who, d.memberId())).put("gen", d.generationId());
            ObjectNode given = line.putObject("assign");
            d.assignments().forEach(one ->
                partitions(given.putArray(name(who, one.memberId())), one.assignment()));
        } else if (data instanceof HeartbeatRequestData d) {
            line.put("m", name(who, d.memberId())).put("gen", d.generationId());
        } else if (data instanceof LeaveGroupRequestData d) {
            ArrayNode members = line.putArray("members");
            d.members().forEach(one -> members.add(name(who, one.memberId())));
        }
        return line;
    }

    /** The fields of an answer. */
    ObjectNode answer(RequestHeader header, ByteBuffer frame) {
        AbstractResponse response = AbstractResponse.parseResponse(frame, header);
        ApiMessage data = response.data();
        ObjectNode line = JSON.objectNode();
        String who = header.clientId();
        Errors error = response.errorCounts().keySet().stream()
            .filter(one -> one != Errors.NONE).findFirst().orElse(Errors.NONE);
        line.put("err", error.name());
        if (data instanceof ConsumerGroupHeartbeatResponseData d) {
            if (d.memberId() != null) {
                line.put("m", name(who, d.memberId()));
            }
            line.put("epoch", d.memberEpoch()).put("hb_ms", d.heartbeatIntervalMs());
            if (d.assignment() == null) {
                line.putNull("assigned");
            } else {
                ArrayNode assigned = line.putArray("assigned");
                d.assignment().topicPartitions().forEach(topic -> topic.partitions().forEach(assigned::add));
            }
        } else if (data instanceof ShareGroupHeartbeatResponseData d) {
            if (d.memberId() != null) {
                line.put("m", name(who, d.memberId()));
            }
            line.put("epoch", d.memberEpoch()).put("hb_ms", d.heartbeatIntervalMs());
            if (d.assignment() == null) {
                line.putNull("assigned");
            } else {
                ArrayNode assigned = line.putArray("assigned");
                d.assignment().topicPartitions().forEach(topic -> topic.partitions().forEach(assigned::add));
            }
        } else if (data instanceof ShareFetchResponseData d) {
            line.put("err", Errors.forCode(d.errorCode()).name());
            ArrayNode parts = line.putArray("parts");
            d.responses().forEach(topic -> topic.partitions().forEach(one -> {
                ObjectNode part = parts.addObject().put("p", one.partitionIndex()).put("err", one.errorCode())
                    .put("ackerr", one.acknowledgeErrorCode());
                ArrayNode acquired = part.putArray("acquired");
                one.acquiredRecords().forEach(batch -> acquired.addArray().add(batch.firstOffset())
                    .add(batch.lastOffset()).add(batch.deliveryCount()));
            }));
            line.put("acquisitionLockTimeoutMs", d.acquisitionLockTimeoutMs());
        } else if (data instanceof ShareAcknowledgeResponseData d) {
            line.put("err", Errors.forCode(d.errorCode()).name());
            ArrayNode parts = line.putArray("parts");
            d.responses().forEach(topic -> topic.partitions().forEach(one ->
                parts.addObject().put("p", one.partitionIndex()).put("ackerr", one.errorCode())));
        } else if (data instanceof JoinGroupResponseData d) {
            line.put("m", name(who, d.memberId())).put("gen", d.generationId());
            line.put("leader", name(who, d.leader()));
            ArrayNode members = line.putArray("members");
            d.members().forEach(one -> members.add(name(who, one.memberId())));
        } else if (data instanceof SyncGroupResponseData d) {
            partitions(line.putArray("assigned"), d.assignment());
        }
        return line;
    }

    /** The partitions of what an assignor wrote; of nothing, as in an answer with an error, none. */
    private static void partitions(ArrayNode into, byte[] assignment) {
        if (assignment.length > 0) {
            ConsumerProtocol.deserializeAssignment(ByteBuffer.wrap(assignment)).partitions()
                .forEach(one -> into.add(one.partition()));
        }
    }

    /** Acknowledgements of a partition, if there are any: from which offset to which, and the type. */
    private static void acknowledged(ArrayNode into, int partition, ArrayNode batches) {
        if (!batches.isEmpty()) {
            into.addObject().put("p", partition).set("batches", batches);
        }
    }

    /** One entry for each stretch of offsets of one type; one type may stand for the whole batch. */
    private static void batches(ArrayNode into, long first, long last, List<Byte> types) {
        long begin = first;
        for (long offset = first; offset <= last; offset++) {
            byte type = types.size() == 1 ? types.get(0) : types.get((int) (offset - first));
            boolean ends = offset == last || types.size() > 1 && types.get((int) (offset - first) + 1) != type;
            if (ends) {
                into.addArray().add(begin).add(offset).add(type);
                begin = offset + 1;
            }
        }
    }

    /** A member's name: its client's, and from the second member id of a client on its number. */
    private String name(String who, String member) {
        if (member == null || member.isEmpty()) {
            return "";
        }
        return names.computeIfAbsent(member, id -> {
            int number = incarnations.merge(who, 1, Integer::sum);
            return number == 1 ? who : who + "." + number;
        });
    }

    private static void putNames(ObjectNode line, String key, Collection<String> names) {
        if (names != null) {
            ArrayNode array = line.putArray(key);
            List.copyOf(names).forEach(array::add);
        }
    }
}
