package io.osier.datacenter.copies;

import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.ByteBudget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.config.CopySettings;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.datacenter.forward.ForwardingHost;
import io.osier.datacenter.forward.ShownVersions;
import io.osier.datacenter.partition.Reads;
import io.osier.datacenter.store.StoredKey;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** In virtual time: eu, which holds a keyspace, and others that copy what they read of it. */
final class CopyWorld {
  static final ReplicaId EU = new ReplicaId("eu", 1);
  static final String SHOP = "shop";
  static final long HOLD_MILLIS = 50;
  static final long WAY_MILLIS = 40;
  long holdMillis = HOLD_MILLIS;

  final VirtualTime time = new VirtualTime();
  List<String> holders = List.of("eu", "us");
  String creation = "first";
  Duration stale = Duration.ZERO;

  private final Map<Key, CrdtState> objects = new HashMap<>();
  private final Set<ChangeListener> listeners = new HashSet<>();
  private long committed;

  /** What is committed is visible, and not yet told; see {@link #tellsLater}. */
  private final List<Key> untold = new ArrayList<>();

  boolean tellsLater;
  boolean listens = true;
  boolean isHeld = true;

  /** It says that it has told more than it has: what is committed by the end of all waiting. */
  boolean boasts;

  /** Is done before each read of an object at eu. */
  Consumer<Key> reading = key -> {};

  /** A partition's own thread is at work, which reads no object for others. */
  private boolean inPartition;

  /** So often somebody wanted to hear of changes. */
  int listenings;

  /** Questions that wait for nothing come so much later, behind others. */
  long lateMillis;

  final ByteBudget ofFollowers = new ByteBudget(1 << 20);
  final Followers followers = new Followers(new Eu(), ofFollowers, time::nanos);

  long millis() {
    return time.millis();
  }

  void pass(long millis) {
    time.pass(millis);
  }

  /** What a read of a counter was answered. */
  static long count(Reply reply) {
    return ((Reading.Count) ((Reply.Answer) reply).reading().orElseThrow()).value();
  }

  // ---------------------------------------------------------------- eu

  /** Updates an object at eu, which is at once durable. */
  Dot update(String key, CrdtType type, Operation operation) {
    Key of = Key.of(key);
    CrdtState before = objects.getOrDefault(of, CrdtState.bottom(type));
    long predecessor = before.context().toVersionVector().get(EU);
    CrdtState delta = before.prepare(operation, EU, ++committed, predecessor, committed, 0);
    committed = delta.context().toVersionVector().get(EU);
    objects.put(of, before.join(delta));
    untold.add(of);
    if (!tellsLater) {
      tell();
    }
    return new Dot(EU, committed);
  }

  void set(String key, String text) {
    update(key, CrdtType.LWW_REGISTER, new Operation.Assign(Value.of(text)));
  }

  Dot increment(String key) {
    return update(key, CrdtType.PN_COUNTER, new Operation.Increment(1));
  }

  /** A counter whose answers depend on where it is read. */
  void boundedCounter(String key) {
    update(key, CrdtType.BOUNDED_COUNTER, new Operation.Bound(0, 10, List.of("eu"), 5));
  }

  /** Tells what was committed; before that nobody is answered who has made it, or asked behind. */
  void tell() {
    List<ChangeListener.Changed> changed =
        untold.stream().map(key -> new ChangeListener.Changed(key, 0)).toList();
    untold.clear();
    List.copyOf(listeners).forEach(l -> l.changed(changed));
  }

  /** From now on an object's entries are read one by one. */
  void decompose(String key) {
    objects.computeIfPresent(Key.of(key), (k, state) -> Decomposition.of(state));
  }

  long count(String key) {
    return count(at(Reader.question(key, VersionVector.EMPTY)));
  }

  Reply.Answer at(Request.Read read) {
    CrdtState state = objects.get(read.key());
    return Reads.of(state == null ? List.of() : List.of(state), read, this::millis);
  }

  Partitioning partitioning = Partitioning.byKey(1);

  private final class Eu implements Followers.Around, Followers.Held {
    @Override
    public Optional<Followers.Held> heldHere(String keyspace) {
      return isHeld && keyspace.equals(SHOP) ? Optional.of(this) : Optional.empty();
    }

    @Override
    public void later(Runnable task, long millis) {
      time.later(task, millis);
    }

    @Override
    public long holdMillis() {
      return holdMillis;
    }

    @Override
    public Partitioning partitioning() {
      return partitioning;
    }

    @Override
    public boolean listen(ChangeListener listener) {
      boolean hears = listens && listener.isWanted();
      listenings++;
      if (listeners.add(listener) && !hears) {
        listener.missed();
      }
      return hears;
    }

    @Override
    public void through(int partition, Consumer<@Nullable VersionVector> told) {
      VersionVector through = VersionVector.of(EU, boasts ? committed + 1 : committed);
      tell(); // in front of the answer
      inPartition = true;
      told.accept(through);
      inPartition = false;
    }

    @Override
    public StoredKey read(Key key) {
      if (inPartition) {
        throw new IllegalStateException("read in a partition's thread");
      }
      reading.accept(key);
      CrdtState state = objects.get(key);
      List<CrdtState> states = state == null ? List.of() : List.of(state);
      return () -> states;
    }

    @Override
    public void beside(Runnable task) {
      time.later(task, 1);
    }
  }

  // ---------------------------------------------------------------- one that copies

  /** One that holds nothing, with the link between it and eu. */
  final class Reader implements Holders {
    final ReplicaId self;
    final Copies copies;
    private final Set<Consumer<@Nullable WireInput>> asked = new HashSet<>();

    /** What was shown there of the keyspace. */
    VersionVector shown = VersionVector.EMPTY;

    boolean cut;

    /** Who answers what is forwarded; all of it is at eu. */
    String nearest = "eu";

    /** What becomes of an answer of the holder on its way. */
    UnaryOperator<FollowCodec.Answer> alters = answer -> answer;

    /** Is done when it is looked up who holds the keyspace. */
    Runnable lookingUp = () -> {};

    /** Hears of each question. */
    Consumer<FollowCodec.Ask> asking = ask -> {};

    /** Who was asked last what becomes of objects; all that is asked comes to eu. */
    String follows = "";

    long bytes;

    /** So often somebody was told what is shown. */
    long showings;

    Reader(String dc, CopySettings settings) {
      self = new ReplicaId(dc, 1);
      copies = new Copies(this, settings, CopyWorld.this::millis);
    }

    /** The link is lost, with all that is on it. */
    void cut() {
      cut = true;
      followers.down(self.dc());
      List<Consumer<@Nullable WireInput>> all = List.copyOf(asked);
      asked.clear();
      all.forEach(a -> a.accept(null));
    }

    /** Answers a read from a copy; null if it must be forwarded. */
    @Nullable Reply copied(String key, VersionVector after) {
      Copies.Answer answer = copies.answer(question(key, after), true);
      return answer == null ? null : answer.reply();
    }

    static Request.Read question(String key, VersionVector after) {
      return new Request.Read(
          SHOP, Key.of(key), Optional.empty(), new Query.Whole(), after, false, 0);
    }

    /** Has a read forwarded, whose answer takes no time. */
    Reply.Answer forwarded(String key, VersionVector after) {
      Reply.Answer answer = at(question(key, after));
      passOn(question(key, after), answer, 100);
      return answer;
    }

    /** Has an update forwarded, whose answer takes no time. */
    Dot incremented(String key) {
      Dot dot = increment(key);
      passOn(
          Requests.write(SHOP, Key.of(key), CrdtType.PN_COUNTER, new Operation.Increment(1)),
          new Reply.Done(dot),
          20);
      return dot;
    }

    void passOn(Request request, Reply reply, int size) {
      bytes += size;
      shown = shown.join(ShownVersions.seen(reply));
      told(request, 0, reply, size);
    }

    /** A forwarded request about a partition is answered so. */
    void told(Request request, int partition, Reply reply, int size) {
      copies.answered(nearest, request, Optional.of(partition), reply, size);
    }

    /** Reads as a client does; what it is answered. */
    Reply read(String key) {
      return read(key, VersionVector.EMPTY);
    }

    /** Reads as one does that has seen something elsewhere. */
    Reply read(String key, VersionVector after) {
      Reply copied = copied(key, after);
      return copied != null ? copied : forwarded(key, after);
    }

    /** Reads so often that each is worth a copy, until there is one. */
    void heat(String... keys) {
      for (int i = 0; i < 100; i++) {
        for (String key : keys) {
          read(key);
        }
        pass(100);
      }
    }

    @Override
    public Optional<ForwardingHost.Held> heldElsewhere(String keyspace) {
      lookingUp.run();
      return keyspace.equals(SHOP)
          ? Optional.of(new ForwardingHost.Held(holders, Partitioning.byKey(1), creation))
          : Optional.empty();
    }

    @Override
    public Object placed() {
      return creation;
    }

    @Override
    public void ask(
        String dc,
        Consumer<WireOutput> content,
        long waitMillis,
        Consumer<@Nullable WireInput> answer) {
      if (cut) {
        answer.accept(null);
        return;
      }
      follows = dc;
      asked.add(answer);
      byte[] asks = WireOutput.bytesOf(content);
      bytes += asks.length;
      asking.accept(FollowCodec.readAsk(new WireInput(asks)));
      time.later(
          () -> {
            if (asked.contains(answer)) {
              followers.asked(self, new WireInput(asks), told -> answered(told, answer));
            }
          },
          WAY_MILLIS + (waitMillis == 0 ? lateMillis : 0));
    }

    private void answered(
        @Nullable Consumer<WireOutput> told, Consumer<@Nullable WireInput> answer) {
      byte[] content = told == null ? new byte[0] : altered(WireOutput.bytesOf(told));
      bytes += content.length;
      time.later(
          () -> {
            if (asked.remove(answer)) {
              answer.accept(new WireInput(content));
            }
          },
          WAY_MILLIS);
    }

    private byte[] altered(byte[] content) {
      FollowCodec.Answer answer = FollowCodec.readAnswer(new WireInput(content));
      return WireOutput.bytesOf(out -> FollowCodec.write(out, alters.apply(answer)));
    }

    @Override
    public Duration staleReads(String keyspace) {
      return stale;
    }

    @Override
    public boolean mayAsk(String dc) {
      return !cut;
    }

    @Override
    public double roundTripMillis(String dc) {
      return 2 * WAY_MILLIS;
    }

    @Override
    public VersionVector shown(String keyspace, int partition) {
      return shown;
    }

    @Override
    public void shows(String keyspace, int partition, VersionVector more) {
      shown = shown.join(more);
      showings++;
    }

    @Override
    public void later(Runnable task, long millis) {
      time.later(task, millis);
    }
  }
}
