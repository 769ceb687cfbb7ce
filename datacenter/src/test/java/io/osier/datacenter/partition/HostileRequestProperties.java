package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationLimits;
import io.osier.crdt.Query;
import io.osier.datacenter.store.MemoryStore;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.Frame;
import io.osier.propagation.FrameCodec;
import io.osier.propagation.Recovered;
import io.osier.propagation.Shipment;
import io.osier.propagation.StreamSettings;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Whatever a client can encode, meaningful or not, gets exactly one answer; a failure changes
 * nothing, and an acknowledged update has a dot that no other has. A request that made the machine
 * throw would stop one datacenter after the other, since clients try elsewhere.
 */
final class HostileRequestProperties {
  private static final int REQUESTS = 60;
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final KeyspacePolicy POLICY =
      KeyspacePolicy.causal("k", Duration.ofSeconds(1))
          .with(new KeyspacePolicy.Limits(64, 256, 2_048));

  private static final class Outputs {
    final List<Reply> replies = new ArrayList<>();
    final List<Shipment> journal = new ArrayList<>();
    PartitionReport report;

    void take(Effects effects) {
      for (Effects.Recorded record : effects.records()) {
        if (record instanceof Effects.Applied a) {
          journal.add(a.update());
        }
      }
      for (Effects.Output output : effects.whenDurable()) {
        if (output instanceof Effects.Answer a) {
          replies.add(a.reply());
        }
      }
      effects.atOnce().forEach(r -> report = r.report());
    }
  }

  @Property(tries = 1_500)
  void everyRequest_isAnsweredOnce_andAFailureChangesNothing(@ForAll long seed) {
    Random random = new Random(seed);
    MemoryStore store = new MemoryStore();
    Partition partition =
        new Partition(
            new PartitionConfig(
                SELF, List.of(), POLICY, 0, StreamSettings.DEFAULT, AdaptationSettings.DEFAULT),
            store,
            Recovered.NOTHING,
            new Now(1, 1));
    Outputs out = new Outputs();
    long last = 0;
    for (int i = 1; i <= REQUESTS; i++) {
      Request request =
          switch (random.nextInt(5)) {
            case 0 -> read(random);
            case 1 -> transact(random);
            case 2 -> repeat(random);
            default -> write(random);
          };
      // As it comes off the wire.
      request = ProtocolCodec.decodeRequest(ProtocolCodec.encode(i, request)).message();
      List<ObjectStore.Entry> before = store.scan(Optional.empty(), 100);
      Reply reply = handle(partition, request, i, out);
      ProtocolCodec.decodeReply(ProtocolCodec.encode(i, reply));
      if (reply instanceof Reply.Transacted transacted) {
        last = Math.max(last, transacted.dot().map(Dot::number).orElse(0L)); // or sent again
      } else if (reply instanceof Reply.Done done) {
        assertThat(done.dot().number()).as("dot of %s", request).isGreaterThan(last);
        last = done.dot().number();
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
        assertThat(store.scan(Optional.empty(), 100)).as("after %s", request).isEqualTo(before);
        if (reply instanceof Reply.Failure failure) {
          assertThat(failure.code()).as(failure.message()).isNotEqualTo(ErrorCode.INTERNAL);
        }
      }
      out.take(partition.step(new Input.Tick(), new Now(i * 1_000_000L, i)));
      out.take(partition.step(new Input.Inspect(0, 1), new Now(i * 1_000_000L, i)));
      assertThat(out.report.committed()).isEqualTo(last);
      for (ObjectStore.Entry entry : store.scan(Optional.empty(), 100)) {
        Causal state = entry.state();
        assertThat(state.read(new Query.Whole())).isNotNull();
      }
    }
  }

  private static Reply handle(Partition partition, Request request, int i, Outputs out) {
    if (request instanceof Request.Write write) {
      try {
        OperationLimits.check(write.operation(), POLICY.limits());
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.getMessage());
      }
    }
    if (request instanceof Request.Transact transact) {
      try {
        transact.updates().forEach(u -> OperationLimits.check(u.operation(), POLICY.limits()));
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.getMessage());
      }
    }
    int answered = out.replies.size();
    out.take(partition.step(new Input.Command(i, request), new Now(i * 1_000_000L, i)));
    assertThat(out.replies).as("one answer to %s", request).hasSize(answered + 1);
    return out.replies.getLast();
  }

  // ---------------------------------------------------------------- what may come

  private static Request read(Random random) {
    Optional<CrdtType> type =
        random.nextBoolean() ? Optional.empty() : Optional.of(pick(random, CrdtType.values()));
    Query query =
        switch (random.nextInt(5)) {
          case 4 -> new Query.Rights();
          case 0 -> new Query.Whole();
          case 1 -> new Query.Contains(value(random));
          case 2 -> new Query.Size();
          default -> new Query.Select(names(random));
        };
    return new Request.Read("k", key(random), type, query, VersionVector.EMPTY, true, 0);
  }

  private static Request write(Random random) {
    CrdtType type = pick(random, CrdtType.values());
    return new Request.Write("k", key(random), type, operation(random, 0), VersionVector.EMPTY, 0);
  }

  private static Request repeat(Random random) {
    return new Request.Repeat(SELF, random.nextInt(20), transact(random));
  }

  /** Steps of a few transactions, in and out of order. */
  private static Request.Transact transact(Random random) {
    int step = 1 + random.nextInt(3);
    List<Request.Update> updates = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      CrdtType type = pick(random, CrdtType.values());
      updates.add(new Request.Update(key(random), type, operation(random, 0)));
    }
    List<Request.Fetch> reads = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      Request.Read read = (Request.Read) read(random);
      reads.add(new Request.Fetch(read.key(), read.type(), read.query()));
    }
    Request.Begin begin =
        new Request.Begin(
            random.nextInt(4) == 0
                ? VersionVector.of(SELF, 1 + random.nextInt(9))
                : VersionVector.EMPTY,
            random.nextInt(4) == 0,
            0,
            pick(random, new Integer[] {0, 1, 10, 60_000, Integer.MAX_VALUE}));
    return new Request.Transact(
        "k",
        new TransactionId(0, random.nextInt(6)),
        step,
        step == 1 ? Optional.of(begin) : Optional.empty(),
        updates,
        reads,
        pick(random, Request.End.values()));
  }

  private static Key key(Random random) {
    return Key.of("k" + random.nextInt(8));
  }

  private static <T> T pick(Random random, T[] of) {
    return of[random.nextInt(of.length)];
  }

  private static Operation operation(Random random, int depth) {
    if (depth == 0 && random.nextInt(3) == 0) {
      return bounded(random);
    }
    return switch (random.nextInt(depth < 3 ? 8 : 6)) {
      case 0 -> new Operation.Increment(number(random));
      case 1 -> new Operation.Assign(value(random));
      case 2 -> new Operation.SetFlag(random.nextBoolean());
      case 3 -> new Operation.Add(values(random));
      case 4 -> new Operation.Remove(values(random));
      case 5 -> new Operation.Clear();
      case 6 -> new Operation.RemoveFields(names(random));
      default -> {
        List<Operation.FieldUpdate> updates = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
          updates.add(
              new Operation.FieldUpdate(
                  new FieldId(pick(random, NAMES), pick(random, CrdtType.values())),
                  operation(random, depth + 1)));
        }
        yield new Operation.UpdateFields(updates);
      }
    };
  }

  private static Operation bounded(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> new Operation.Bound(number(random), number(random), List.of());
      case 1 -> new Operation.Transfer("us", number(random), random.nextBoolean());
      case 2 -> new Operation.Increment(number(random));
      default -> new Operation.IncrementWithin(number(random), 0);
    };
  }

  private static final String[] NAMES = {"f", "g", "h".repeat(100)};
  private static final long[] NUMBERS = {
    0, 1, -1, 7, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 1, 1L << 32
  };
  private static final double[] REALS = {
    0.0, -0.0, Double.NaN, Double.POSITIVE_INFINITY, Double.MIN_VALUE, -1.5
  };

  private static long number(Random random) {
    return NUMBERS[random.nextInt(NUMBERS.length)];
  }

  private static List<String> names(Random random) {
    List<String> names = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      names.add(pick(random, NAMES));
    }
    return names;
  }

  private static List<Value> values(Random random) {
    List<Value> values = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      values.add(value(random));
    }
    return values;
  }

  private static Value value(Random random) {
    return switch (random.nextInt(5)) {
      case 0 -> Value.of(number(random));
      case 1 -> Value.of(REALS[random.nextInt(REALS.length)]);
      case 2 -> Value.of(new byte[random.nextInt(3)]);
      case 3 -> Value.of("x".repeat(random.nextInt(300)));
      default -> Value.of(pick(random, new String[] {"", "a", "b"}));
    };
  }
}
