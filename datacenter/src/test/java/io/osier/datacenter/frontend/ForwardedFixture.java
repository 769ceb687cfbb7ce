package io.osier.datacenter.frontend;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.net.ByteBudget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.access.DecoyCredentials;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A datacenter, eu, that another one, ap, sends its clients' requests. */
abstract class ForwardedFixture {
  static final ReplicaId AP = new ReplicaId("ap", 1);
  static final Dot DOT = new Dot(new ReplicaId("eu", 1), 7);
  static final long BYTES = 1L << 30;

  final ByteBudget bytes = new ByteBudget(BYTES);

  /** What was done here, until the test answers it. */
  final Map<Request, Consumer<Reply>> done = new LinkedHashMap<>();

  /** What the peer was answered and has not taken. */
  final Map<Long, Reply> answers = new LinkedHashMap<>();

  final List<Runnable> left = new ArrayList<>();

  /** Where requests are done. */
  class Here implements ClientService {
    @Override
    public List<Reply.KeyspaceInfo> keyspaces() {
      return List.of();
    }

    @Override
    public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
      done.put(request, reply);
    }

    @Override
    public void administer(AdminRequest.Administer request, String by, Consumer<Reply> reply) {
      throw new AssertionError(request);
    }
  }

  static AccessControl access(Supplier<Users> users) {
    return new AccessControl(
        users,
        "osier",
        new DecoyCredentials(new byte[DecoyCredentials.SECRET_BYTES]),
        new AuditLog("eu"));
  }

  static Request write(String key) {
    return new Request.Write(
        "shop",
        Key.of(key),
        CrdtType.PN_COUNTER,
        new Operation.Increment(1),
        VersionVector.EMPTY,
        0);
  }

  void answered(byte[] content, Runnable then) {
    var answer = ProtocolCodec.decodeReply(content);
    assertThat(answers.put(answer.id(), answer.message())).as("the first answer").isNull();
    left.add(then);
  }

  ErrorCode failure(long id) {
    return ((Reply.Failure) requireNonNull(answers.get(id))).code();
  }

  String message(long id) {
    return ((Reply.Failure) requireNonNull(answers.get(id))).message();
  }

  void isIdle() {
    left.forEach(Runnable::run);
    left.clear();
    assertThat(bytes.taken()).as("of the budget").isZero();
  }
}
