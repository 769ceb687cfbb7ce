package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationLimits;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.propagation.host.StoredObjects;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Call;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;

/**
 * Whatever a client can encode, meaningful or not, gets exactly one answer; a failure changes
 * nothing, and an acknowledged update has a dot that no other has. A request that made the machine
 * throw would stop one datacenter after the other, since clients try elsewhere.
 */
final class HostileRequestProperties {
  static final int REQUESTS = 60;

  /** Between two requests: what expires is removed a few of them later. */
  static final long PAUSE_MILLIS = 200;

  static final ReplicaId SELF = new ReplicaId("eu", 1);

  private static final KeyspacePolicy POLICY =
      KeyspacePolicy.causal("k", Duration.ofSeconds(1))
          .with(new KeyspacePolicy.Limits(64, 256, 2_048));

  private static final class Outputs {
    final List<Reply> replies = new ArrayList<>();
    final List<Shipment> journal = new ArrayList<>();
    @Nullable PartitionReport report;

    void take(Effects effects) {
      for (Effects.Recorded record : effects.records()) {
        if (record instanceof Effects.Applied a) {
          journal.add(a.update());
        }
      }
      for (Effects.Output output : effects.whenDurable()) {
        if (output instanceof Effects.ToClient a) {
          replies.add(a.reply());
        }
      }
      effects.atOnce().forEach(r -> report = r.report());
    }
  }

  @Property(tries = 1_500)
  void everyRequest_isAnsweredOnce_andAFailureChangesNothing(
      @ForAll(supplier = HostileRequests.class) List<Request> requests) {
    MemoryStore store = new MemoryStore();
    Partition partition = Partitions.started(SELF, List.of(), POLICY, store, new Now(1, 1));
    Outputs out = new Outputs();
    long last = 0;
    for (int i = 1; i <= requests.size(); i++) {
      // As it comes off the wire.
      byte[] encoded = ProtocolCodec.encode(i, requests.get(i - 1));
      Request request = ProtocolCodec.decodeRequest(encoded).message();
      long millis = i * PAUSE_MILLIS;
      View before = View.of(store, millis);
      Reply reply = handle(partition, request, i, out);
      ProtocolCodec.decodeReply(ProtocolCodec.encode(i, reply));
      if (reply instanceof Reply.Transacted transacted) {
        last = Math.max(last, transacted.dot().map(Dot::number).orElse(0L)); // or sent again
      } else if (reply instanceof Reply.All all) {
        last = ofParts(request, all, last, View.of(store, millis), before);
      } else if (reply instanceof Reply.Evaluated evaluated) {
        last = ofProgram((Request.Evaluate) request, evaluated, last);
        if (evaluated.dot().isEmpty()) {
          assertThat(View.of(store, millis).shown()).as("%s", request).isEqualTo(before.shown());
        }
      } else if (reply instanceof Reply.Done done) {
        assertThat(done.dot().number()).as("dot of %s", request).isGreaterThan(last);
        last = done.dot().number();
        answersWhatWasAsked((Request.Write) request, done, before, View.of(store, millis));
        assertThat(isMet((Request.Write) request, before)).as("%s", request).isTrue();
        Shipment shipment = out.journal.getLast();
        Frame frame =
            new Frame.Updates(
                Frame.Kind.OPS,
                1,
                1,
                1,
                VersionVector.EMPTY,
                Optional.empty(),
                false,
                1,
                List.of(shipment));
        assertThat(FrameCodec.decode(SELF, FrameCodec.encode(SELF, frame))).isEqualTo(frame);
      } else {
        assertThat(View.of(store, millis).shown())
            .as("after %s", request)
            .isEqualTo(before.shown());
        if (request instanceof Request.Write write && reply instanceof Reply.Answer) {
          boolean had = isMet(write, before) && hasToDo(write, before);
          assertThat(had).as("%s", request).isFalse();
        }
        if (reply instanceof Reply.Failure failure) {
          assertThat(failure.code()).as(failure.message()).isNotEqualTo(ErrorCode.INTERNAL);
        }
      }
      out.take(partition.step(new Input.Tick(), now(i)));
      out.take(partition.step(new Input.Inspect(0, 1), now(i)));
      long committed = requireNonNull(out.report).content().committed();
      if (requests.stream().noneMatch(HostileRequestProperties::givesDeadlines)) {
        assertThat(committed).isEqualTo(last); // otherwise what has expired was removed as well
      }
      last = Math.max(last, committed);
      for (StoredObjects.Entry entry : store.scan(Optional.empty(), 100)) {
        CrdtState state = entry.state();
        assertThat(state.read(new Query.Whole())).isNotNull();
      }
    }
  }

  private static Now now(int i) {
    return new Now(i * PAUSE_MILLIS * 1_000_000, i * PAUSE_MILLIS);
  }

  private static boolean givesDeadlines(Request request) {
    List<Operation> all =
        switch (request) {
          case Request.Write w -> List.of(w.operation());
          case Request.WriteAll w -> operations(w.updates());
          case Request.Transact t -> operations(t.updates());
          case Request.Repeat r -> operations(r.step().updates());
          case Request.Evaluate e ->
              e.calls().stream().flatMap(c -> operation(c).stream()).toList();
          default -> List.of();
        };
    return all.stream().anyMatch(Operation::givesDeadline);
  }

  private static Optional<Operation> operation(Call call) {
    return switch (call) {
      case Call.Update c -> Optional.of(c.operation());
      case Call.Replace c -> Optional.of(c.operation());
      case Call.ExpireIf c -> Optional.of(c.deadline());
      default -> Optional.empty();
    };
  }

  /** Its calls are answered each, and all that changed something by the number of the last. */
  private static long ofProgram(Request.Evaluate program, Reply.Evaluated evaluated, long last) {
    assertThat(evaluated.parts()).as("%s", program).hasSameSizeAs(program.calls());
    boolean anyDone = false;
    for (Reply part : evaluated.parts()) {
      switch (part) {
        case Reply.Done done -> {
          anyDone = true;
          assertThat(Optional.of(done.dot())).isEqualTo(evaluated.dot());
        }
        case Reply.Failure f ->
            assertThat(f.code()).as(f.message()).isNotEqualTo(ErrorCode.INTERNAL);
        default -> {}
      }
    }
    assertThat(evaluated.dot().isPresent()).as("%s", program).isEqualTo(anyDone);
    assertThat(evaluated.held() || !anyDone).as("%s", program).isTrue();
    evaluated.dot().ifPresent(dot -> assertThat(dot.number()).isGreaterThan(last));
    return evaluated.dot().map(Dot::number).orElse(last);
  }

  private static List<Operation> operations(List<Request.Update> updates) {
    return updates.stream().map(Request.Update::operation).toList();
  }

  /**
   * What is stored, for a reader at a time.
   *
   * @param all also what has expired, which may be removed at any moment
   */
  private record View(List<StoredObjects.Entry> all, long millis) {
    static View of(MemoryStore store, long millis) {
      return new View(store.scan(Optional.empty(), 100), millis);
    }

    List<StoredObjects.Entry> shown() {
      return all.stream().filter(e -> !e.state().isOver(millis)).toList();
    }

    List<CrdtState> of(Key key) {
      return shown().stream()
          .filter(e -> e.object().key().equals(key))
          .map(StoredObjects.Entry::state)
          .filter(s -> !s.isBottom())
          .toList();
    }

    CrdtState state(Request.Write write) {
      return all.stream()
          .filter(e -> e.object().equals(new ObjectId(write.key(), write.type())))
          .map(e -> e.state().at(millis))
          .findFirst()
          .orElseGet(() -> CrdtState.bottom(write.type()));
    }
  }

  /** Whether there is something that it concerns: what is not there is not removed, say. */
  private static boolean hasToDo(Request.Write write, View before) {
    return !write.operation().isOfKey()
        || before.of(write.key()).stream()
            .anyMatch(
                s ->
                    !(write.operation() instanceof Operation.Persist)
                        || s.deadline() != CrdtState.NEVER);
  }

  /** Each part by itself: those that are done have their dots, and the others changed nothing. */
  private static long ofParts(Request request, Reply.All all, long last, View after, View before) {
    long latest = last;
    for (Reply part : all.parts()) {
      switch (part) {
        case Reply.Done done -> {
          assertThat(done.dot().number()).as("dot in %s", request).isGreaterThan(latest);
          latest = done.dot().number();
        }
        case Reply.Failure f ->
            assertThat(f.code()).as(f.message()).isNotEqualTo(ErrorCode.INTERNAL);
        default -> {}
      }
    }
    if (request instanceof Request.WriteAll write) {
      assertThat(all.parts()).hasSameSizeAs(write.updates());
    } else {
      assertThat(all.parts()).hasSameSizeAs(((Request.ReadAll) request).reads());
    }
    if (latest == last) {
      assertThat(after.shown()).as("after %s", request).isEqualTo(before.shown());
    }
    return latest;
  }

  /** The object as it was before the update, or as it is after it. */
  private static void answersWhatWasAsked(
      Request.Write write, Reply.Done done, View before, View after) {
    assertThat(done.answer().isPresent()).isEqualTo(write.ask().isPresent());
    if (write.operation().isOfKey()) {
      // A deletion also takes what no reader is shown any more.
      boolean deletes = write.operation() instanceof Operation.Delete;
      assertThat(deletes || hasToDo(write, before)).as("%s", write).isTrue();
      leavesWhatItSays(write, after);
      return;
    }
    if (write.ask().isPresent()) {
      Request.Ask ask = write.ask().get();
      CrdtState state = (ask.before() ? before : after).state(write);
      Reply.Answer answer = done.answer().orElseThrow();
      assertThat(answer.reading()).as("%s", write).contains(read(state, ask.query(), after.millis));
      assertThat(answer.exists()).isEqualTo(!state.isBottom());
      assertThat(answer.seen()).isEqualTo(state.context().toVersionVector());
    }
  }

  /** What is left of a key behind a deletion, a deadline, or where one was taken away. */
  private static void leavesWhatItSays(Request.Write write, View after) {
    List<CrdtState> left = after.of(write.key());
    switch (write.operation()) {
      case Operation.Delete o -> assertThat(left).isEmpty();
      case Operation.Expire o ->
          assertThat(left).allMatch(s -> s.deadline() == o.from(after.millis).millis());
      default -> assertThat(left).allMatch(s -> s.deadline() == CrdtState.NEVER);
    }
  }

  private static Reading read(CrdtState state, Query query, long millis) {
    return query instanceof Query.TimeToLive
        ? new Reading.Count(state.expires() ? state.deadline() - millis : -1)
        : state.read(query);
  }

  /** By the value as a whole, where it is of a field. */
  private static boolean isMet(Request.Write write, View before) {
    if (write.condition().isEmpty()) {
      return true;
    }
    Request.Condition condition = write.condition().get();
    CrdtState state = before.state(write);
    if (condition.path().isEmpty()) {
      return read(state, condition.query(), before.millis).equals(condition.expected());
    }
    Reading at = state.read(new Query.Whole());
    for (FieldId field : condition.path()) {
      at =
          at instanceof Reading.Fields f && f.fields().containsKey(field)
              ? requireNonNull(f.fields().get(field))
              : CrdtState.bottom(field.type()).read(new Query.Whole());
    }
    return at.equals(condition.expected());
  }

  private static Reply handle(Partition partition, Request request, int i, Outputs out) {
    if (request instanceof Request.Write write) {
      try {
        OperationLimits.check(write.operation(), POLICY.limits());
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.reason());
      }
    }
    Request step = request instanceof Request.Repeat repeat ? repeat.step() : request;
    if (step instanceof Request.Transact transact) {
      try {
        transact.updates().forEach(u -> OperationLimits.check(u.operation(), POLICY.limits()));
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.reason());
      }
    }
    if (request instanceof Request.WriteAll batch) {
      try {
        batch.updates().forEach(u -> OperationLimits.check(u.operation(), POLICY.limits()));
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.reason());
      }
    }
    if (request instanceof Request.Evaluate program) {
      try {
        program
            .calls()
            .forEach(c -> operation(c).ifPresent(o -> OperationLimits.check(o, POLICY.limits())));
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.reason());
      }
    }
    int answered = out.replies.size();
    out.take(partition.step(new Input.Command(i, request), now(i)));
    assertThat(out.replies).as("one answer to %s", request).hasSize(answered + 1);
    return out.replies.getLast();
  }

  static Key key(int number) {
    return Key.of("k" + number);
  }
}
