package io.osier.datacenter.shard.agent;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** An agent of a machine that does what the test says, with steps by hand. */
abstract class PartitionAgentFixture {
  long nanos = 1_000;

  final List<String> events = new ArrayList<>();

  final ArrayDeque<Runnable> groups = new ArrayDeque<>();

  final PartitionRunnerFixture.Script machine = new PartitionRunnerFixture.Script();

  final MemoryStore store = new MemoryStore();

  final Inbox inbox = new Inbox(2);

  final Time time =
      new Time() {
        @Override
        public long nanos() {
          return nanos;
        }

        @Override
        public long millis() {
          return now().millis();
        }

        @Override
        public Now now() {
          return new Now(nanos, nanos / 1_000_000);
        }
      };

  boolean keepsNothing;

  /** Its groups become durable when the test says so, or at once. */
  final Journal journal =
      new Journal() {
        @Override
        public void append(Shipment update, CrdtState state) {
          events.add("record");
        }

        @Override
        public void committed(TransactionId transaction, long number) {}

        @Override
        public void commit(Optional<PartitionProgress> progress, Runnable whenDurable) {
          events.add("group");
          if (keepsNothing) {
            whenDurable.run();
          } else {
            groups.add(whenDurable);
          }
        }
      };

  /** What takes long. */
  final ArrayDeque<PendingAnswer> later = new ArrayDeque<>();

  final PartitionPorts.Sender sender =
      new PartitionPorts.Sender() {
        @Override
        public void send(ReplicaId to, Frame frame) {
          events.add("frame");
        }

        @Override
        public void later(PendingAnswer answer) {
          events.add("later");
          later.add(answer);
        }
      };

  PartitionAgent agent(Optional<Combiner> combiner, boolean tellsApart) {
    return new PartitionAgent(
        new PartitionPorts("k-0", machine, store, journal, sender),
        inbox,
        time,
        combiner,
        tellsApart,
        new PartitionAgent.Driver() {
          @Override
          public void groupIsOut() {
            events.add("durable");
          }

          @Override
          public void hasWork() {
            events.add("work");
          }

          @Override
          public void couldNotLeave(Effects.Output output, RuntimeException cause) {
            events.add(output.getClass().getSimpleName() + ": " + cause.getMessage());
          }
        });
  }

  Inbox.Offer offer(String key) {
    return offer(key, reply -> events.add(reply.getClass().getSimpleName() + " " + key));
  }

  Inbox.Offer offer(String key, Consumer<Reply> to) {
    Request write =
        Requests.write("k", Key.of(key), CrdtType.PN_COUNTER, new Operation.Increment(1));
    return inbox.offer(write, to);
  }

  static RuntimeException broken(String by) {
    return new IllegalStateException(by);
  }
}
