package checker.service;

import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ShareGroupHeartbeatRequestData;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.coordinator.common.runtime.CoordinatorLoader;
import org.apache.kafka.coordinator.common.runtime.CoordinatorPlayback;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorRuntimeMetrics;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.server.share.persister.NoOpStatePersister;
import org.apache.kafka.server.util.PartitionMetadataClient;

/**
 * The group coordinator of a broker, as it is by default, with a log in memory and time that is moved by hand. The
 * session of a consumer ends while the log commits nothing; the consumer joins again under its id a second later. Then
 * the log goes on: before the end's write has timed out, after that (with a heartbeat at once, and with none for a
 * second), and after the end was made once more.
 *
 * <p>Argument: its protocol, `consumer` or `share`. Prints what its join and each of its heartbeats are answered, and
 * how long after its session's end.
 */
public final class LateEnd {
    private static final TopicPartition PARTITION = new TopicPartition("__consumer_offsets", 0);
    private static final String GROUP = "group";
    private static final String MEMBER = "B";
    private static final String TOPIC = "t";
    private static final Uuid TOPIC_ID = new Uuid(1, 1);
    private static final int STEP_MS = 100;
    private static final int SESSION_MS = 45_000;
    /** When it was to join again, after its session's end. */
    private static final int AWAY_MS = 1_000;

    private final boolean share;
    private final Clock clock = new Clock();
    private final HeldLog log = new HeldLog(PARTITION);
    private final GroupCoordinatorService service;
    private final RequestContext context;

    public static void main(String[] arguments) throws Exception {
        boolean share = arguments[0].equals("share");
        new LateEnd(share).run("in time", 4_900, 1_000);
        new LateEnd(share).run("late, and a heartbeat", 5_200, 0);
        new LateEnd(share).run("late", 5_200, 1_000);
        new LateEnd(share).run("later", 5_800, 0);
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private LateEnd(boolean share) throws Exception {
        this.share = share;
        context = new RequestContext(
            new RequestHeader(ApiKeys.CONSUMER_GROUP_HEARTBEAT, ApiKeys.CONSUMER_GROUP_HEARTBEAT.latestVersion(), MEMBER, 0),
            "1", InetAddress.getLoopbackAddress(), KafkaPrincipal.ANONYMOUS, new ListenerName("CLIENT"),
            SecurityProtocol.PLAINTEXT, ClientInformation.EMPTY, false);
        ConfigDef known = new ConfigDef(GroupCoordinatorConfig.CONFIG_DEF);
        ShareGroupConfig.CONFIG_DEF.configKeys().values().forEach(known::define);
        AbstractConfig defaults = new AbstractConfig(known, Map.of());
        GroupCoordinatorConfig config = new GroupCoordinatorConfig(defaults);
        service = new GroupCoordinatorService.Builder(1, config)
            .withWriter(log)
            .withLoader(new NothingToLoad())
            .withTime(clock)
            .withTimer(clock)
            .withCoordinatorRuntimeMetrics(new GroupCoordinatorRuntimeMetrics(new Metrics()))
            .withGroupCoordinatorMetrics(new GroupCoordinatorMetrics())
            .withGroupConfigManager(new GroupConfigManager(config, new ShareGroupConfig(defaults)))
            .withPersister(new NoOpStatePersister())
            .withAuthorizerPlugin(Optional.empty())
            .withPartitionMetadataClient(new NoOffsets())
            .build();
        service.startup(() -> 1);
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        delta.replay(new TopicRecord().setName(TOPIC).setTopicId(TOPIC_ID));
        delta.replay(new PartitionRecord().setTopicId(TOPIC_ID).setPartitionId(0)
            .setReplicas(List.of(1)).setIsr(List.of(1)).setLeader(1));
        service.onMetadataUpdate(delta, delta.apply(new MetadataProvenance(1, 1, 1, true)));
        service.onElection(PARTITION.partition(), 1);
        settle();
    }

    private void run(String when, int released, int silent) throws Exception {
        int epoch = join().get(10, TimeUnit.SECONDS).epoch();
        log.hold();
        pass(SESSION_MS);
        long ended = clock.milliseconds();
        pass(AWAY_MS);
        tell(when, ended, "heartbeat", heartbeat(epoch));
        CompletableFuture<Answer> joined = join();
        pass(released - AWAY_MS);
        if (joined.isDone()) {
            throw new IllegalStateException("a join was answered that was not committed");
        }
        log.release();
        settle();
        Answer answer = joined.get(10, TimeUnit.SECONDS);
        tell(when, ended, "join", answer);
        pass(silent);
        for (int number = 0; number < 2; number++) {
            tell(when, ended, "heartbeat", heartbeat(answer.epoch()));
            pass(1_000);
        }
    }

    private void tell(String when, long since, String what, Answer answer) {
        System.out.println(when + ", " + (clock.milliseconds() - since) + " ms: " + what + " " + answer.error());
    }

    private CompletableFuture<Answer> join() throws Exception {
        CompletableFuture<Answer> answer = ask(0, List.of(TOPIC));
        settle();
        return answer;
    }

    private Answer heartbeat(int epoch) throws Exception {
        return ask(epoch, null).get(10, TimeUnit.SECONDS);
    }

    private CompletableFuture<Answer> ask(int epoch, List<String> topics) {
        if (share) {
            return service.shareGroupHeartbeat(context, new ShareGroupHeartbeatRequestData()
                    .setGroupId(GROUP).setMemberId(MEMBER).setMemberEpoch(epoch).setSubscribedTopicNames(topics))
                .thenApply(data -> new Answer(Errors.forCode(data.errorCode()), data.memberEpoch()));
        }
        ConsumerGroupHeartbeatRequestData request = new ConsumerGroupHeartbeatRequestData()
            .setGroupId(GROUP).setMemberId(MEMBER).setMemberEpoch(epoch).setSubscribedTopicNames(topics);
        if (epoch == 0) {
            request.setRebalanceTimeoutMs(300_000).setTopicPartitions(List.of());
        }
        return service.consumerGroupHeartbeat(context, request)
            .thenApply(data -> new Answer(Errors.forCode(data.errorCode()), data.memberEpoch()));
    }

    private record Answer(Errors error, int epoch) {}

    private void pass(int milliseconds) throws Exception {
        for (int passed = 0; passed < milliseconds; passed += STEP_MS) {
            clock.advanceClock(STEP_MS);
            settle();
        }
    }

    /** Waits until all is done that was asked; what is written is flushed after what was asked then. */
    private void settle() throws Exception {
        for (int turn = 0; turn < 3; turn++) {
            service.consumerGroupDescribe(context, List.of(GROUP)).get(10, TimeUnit.SECONDS);
        }
    }

    private static final class NothingToLoad implements CoordinatorLoader<CoordinatorRecord> {
        @Override
        public CompletableFuture<LoadSummary> load(TopicPartition of, CoordinatorPlayback<CoordinatorRecord> playback) {
            return CompletableFuture.completedFuture(new LoadSummary(0, 0, 0, 0, 0));
        }

        @Override
        public void close() {
            // Nothing was opened.
        }
    }

    /** Only share groups ask it. */
    private static final class NoOffsets implements PartitionMetadataClient {
        @Override
        public Map<TopicPartition, CompletableFuture<OffsetResponse>> listLatestOffsets(Set<TopicPartition> of) {
            return Map.of();
        }

        @Override
        public void close() {
            // Nothing was opened.
        }
    }
}
