package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.partition.Cluster.Dc;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A cluster of two that programs are run at. */
abstract class ProgramsFixture {
  static final KeyspacePolicy SESSION = KeyspacePolicy.session("k", Duration.ofMillis(500));

  final Cluster cluster = new Cluster(SESSION, "eu", "us");

  static Key key(String name) {
    return Key.of(name);
  }

  static Call assign(String key, String text) {
    return update(key, CrdtType.STRING, new Operation.Assign(Value.of(text)));
  }

  static Call update(String key, CrdtType type, Operation operation) {
    return new Call.Update(key(key), type, operation, Optional.empty());
  }

  static Call read(String key) {
    return new Call.Read(key(key), Optional.empty(), new Query.Whole());
  }

  static Request.Evaluate program(List<Call.Guard> guards, Call... calls) {
    return new Request.Evaluate("k", List.of(calls), guards, VersionVector.EMPTY, 0);
  }

  static Reply reply(Dc dc, Request request) {
    return requireNonNull(dc.replies.get(dc.submit(request)), "answered at once");
  }

  static Reply.Evaluated run(Dc dc, Call... calls) {
    return (Reply.Evaluated) reply(dc, program(List.of(), calls));
  }

  Reply.Evaluated run(Call... calls) {
    return run(cluster.dc("eu"), calls);
  }

  static Reading shown(Reply part) {
    Reply.Answer answer =
        part instanceof Reply.Done d ? d.answer().orElseThrow() : (Reply.Answer) part;
    return answer.reading().orElseThrow();
  }

  static Reading text(String text) {
    return new Reading.Single(Optional.of(Value.of(text)));
  }

  static ErrorCode code(Reply part) {
    return ((Reply.Failure) part).code();
  }

  Reading shown(String key) {
    return shown(run(read(key)).parts().getFirst());
  }

  boolean exists(String key) {
    return ((Reply.Answer) run(read(key)).parts().getFirst()).exists();
  }
}
