package io.osier.bench.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.osier.bench.sim.check.SessionCheckTest;
import io.osier.bench.sim.load.SimUsers;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.SimOptions;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.propagation.host.LinkWindow;
import io.osier.propagation.host.LinkWindows;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Call;
import io.osier.protocol.Envelope;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The simulator notices each fault that it is there for, from the fault to the message. That each
 * check can fail is seen in milliseconds in tests of its own ({@link SessionCheckTest} and others,
 * {@link SimEndTest}); here it is seen that a whole run asks it. So {@link #ALWAYS eight} sabotages
 * suffice in every build, and all of them run
 *
 * <ul>
 *   <li>with {@code -Dosier.sabotage.all=true}, at their pinned seeds ({@link SabotageSeeds});
 *   <li>with {@code -Dosier.sabotage.from=N}, from seed N on, whatever is pinned, until one of 240
 *       seeds notices it. What is found is in {@code target/sabotage-seeds.txt} then: with N = 1
 *       and where behaviour has changed on purpose it takes the place of the resource.
 * </ul>
 *
 * <p>{@link SabotageCostTest} measures how soon each is noticed.
 */
final class SabotageTest {
  /** What a seed draws changes with each new fault: the first that sees it may be a later one. */
  private static final int SEEDS_MAX = 240;

  /**
   * Those that run always: of each check that looks on while a run goes on, and is called from many
   * places, the one that is noticed with the least processor time, a third of a second or so.
   */
  private static final Set<String> ALWAYS =
      Set.of(
          "frames are late, and the streams do not know", // SlaCheck
          "sessions do not say what they have seen", // SessionCheck
          "updates do not say what they need", // CausalOrderCheck
          "a client forgets a condition", // ConditionCheck
          "a scan leaves out its first objects", // TransactionCheck
          "groups are confirmed before they are written", // WitnessedMachine
          "watchers are not told of a change", // SimWatcher
          "what has expired is not hidden"); // SimMortals

  private static final boolean ALL =
      Boolean.getBoolean("osier.sabotage.all") || SabotageSeeds.FROM.isPresent();

  static Stream<Arguments> sabotages() {
    return Stream.of(
        arguments(
            "a remote update is journalled and not stored",
            "records",
            supplier(SabotageTest::forgetful)),
        arguments("a store gives a former state", "the store of", supplier(SabotageTest::stale)),
        arguments(
            "frames are late, and the streams do not know",
            "not visible at",
            supplier(SabotageTest::late)),
        arguments(
            "sessions do not say what they have seen",
            "the session knew",
            supplier(SabotageTest::silent)),
        arguments(
            "groups are confirmed before they are written",
            "are durable",
            supplier(SabotageTest::hasty)),
        arguments(
            "a cold write is overtaken",
            "which it had sent before",
            supplier(SabotageTest::overtaking)),
        arguments(
            "a command is carried out twice",
            "counts|shows|cannot be",
            supplier(SabotageTest::twice)),
        arguments(
            "commits are sent again unmarked",
            "the counter is|never committed",
            supplier(SabotageTest::unmarked)),
        arguments(
            "a repeat's refusal is believed",
            "never committed|_FORGOTTEN",
            supplier(SabotageTest::believing)),
        arguments(
            "a lost answer is taken for a failure",
            "its caller is told|was done at",
            supplier(SabotageTest::mistaking)),
        arguments(
            "what has no answer is sent again",
            "is (done|committed as)|was done 2",
            supplier(SabotageTest::repeating)),
        arguments(
            "a client forgets what its session saw",
            "session (knew|read)",
            supplier(SabotageTest::amnesiac)),
        arguments(
            "a client's repeats are unmarked",
            "is committed as|the counter is",
            supplier(SabotageTest::plain)),
        arguments(
            "a closed client says nothing", "has no outcome", supplier(SabotageTest::taciturn)),
        arguments(
            "what was lost is told as refused",
            "is (done|committed as)|was done 2|told",
            supplier(SabotageTest::denying)),
        arguments(
            "answers are taken for those of the next connection",
            "and the answer was",
            supplier(SabotageTest::confusing)),
        arguments(
            "clients do not hear that they are heard",
            "the client gives up",
            supplier(SabotageTest::unheard)),
        arguments(
            "updates do not say what they need",
            "without all that it had seen",
            supplier(SabotageTest::needless)),
        arguments(
            "a window is not given back",
            "the window of .* counts",
            supplier(SabotageTest::keeping)),
        arguments(
            "what is under way has no bound",
            "sends .* more with",
            supplier(SabotageTest::boundless)),
        arguments(
            "a partition's acknowledgements are lost",
            "was acknowledged for",
            supplier(SabotageTest::starving)),
        arguments(
            "what others claim to have never comes",
            "could have caught up",
            supplier(SabotageTest::boasting)),
        arguments(
            "signs of life are swallowed", "gives up the connection", supplier(SabotageTest::mute)),
        arguments(
            "who does not log in is let in", "has not logged in", supplier(SabotageTest::trusting)),
        arguments(
            "a wrong password is taken", "has not logged in", supplier(SabotageTest::gullible)),
        arguments(
            "what is large is never decoded",
            "was acknowledged for|holds",
            supplier(SabotageTest::deaf)),
        arguments(
            "nobody lets a partition absorb first",
            "the session knew",
            supplier(SabotageTest::hurried)),
        arguments(
            "an update answers with what was before it",
            "the session knew",
            supplier(SabotageTest::reversing)),
        arguments(
            "a client forgets a condition",
            "condition did not hold",
            supplier(SabotageTest::unconditional)),
        arguments(
            "a condition is judged too early",
            "condition did not hold",
            supplier(SabotageTest::judging)),
        arguments(
            "existence is asked of another type",
            "does not exist",
            supplier(SabotageTest::straying)),
        arguments(
            "a batch does not say what was seen",
            "the session knew",
            supplier(SabotageTest::vague)),
        arguments(
            "a scan leaves out its first objects", "transaction", supplier(SabotageTest::skipping)),
        arguments(
            "what was acknowledged in front is lost",
            "and its partition gets",
            supplier(SabotageTest::dropping)),
        arguments(
            "watchers are not told of a change",
            "was not told of a change",
            supplier(SabotageTest::concealing)),
        arguments(
            "everybody takes over the same rights",
            "leaves its bounds",
            supplier(SabotageTest::greedy)),
        arguments(
            "what has expired is not hidden",
            "was gone there|expired there",
            supplier(SabotageTest::showing)),
        arguments(
            "nobody waits for what was prolonged",
            "what was prolonged",
            supplier(SabotageTest::impatient)),
        arguments(
            "a removal does not say what it removes",
            "gone|differs|holds|was not told",
            supplier(SabotageTest::careless)),
        arguments(
            "answers count without what they offer",
            "without all that it had seen|session|was not told of|differs",
            supplier(SabotageTest::rash)),
        arguments(
            "what the absent miss has no bound",
            "memory of (trails|relays)",
            supplier(SabotageTest::hoarding)),
        arguments(
            "a program is done in two turns",
            "a part of program|counts .* programs",
            supplier(SabotageTest::halving)),
        arguments(
            "a program's guard is forgotten",
            "an update is lost",
            supplier(SabotageTest::unguarded)));
  }

  static Stream<Arguments> chosen() {
    return sabotages().filter(of -> ALL || ALWAYS.contains((String) of.get()[0]));
  }

  private static Sabotage forgetful() {
    return new Sabotage() {
      private int stored;

      @Override
      public @Nullable CrdtState stored(
          ReplicaId at, ObjectId object, @Nullable CrdtState before, CrdtState after) {
        // The store itself stumbles over an object of which it holds nothing.
        boolean remote = before != null && after.context().last(at) == before.context().last(at);
        return remote && ++stored % 50 == 0 ? null : after;
      }
    };
  }

  private static Sabotage stale() {
    return new Sabotage() {
      private final Map<ObjectId, CrdtState> first = new HashMap<>();
      private int loads;

      @Override
      public @Nullable CrdtState loaded(ObjectId object, @Nullable CrdtState state) {
        if (state == null) {
          return null;
        }
        CrdtState former = first.putIfAbsent(object, state);
        return former != null && ++loads % 500 == 0 ? former : state;
      }
    };
  }

  private static Sabotage late() {
    return new Sabotage() {
      @Override
      public long extraDelayNanos(Frame frame) {
        return frame instanceof Frame.Updates ? 12_000_000_000L : 0;
      }
    };
  }

  private static Sabotage silent() {
    return new Sabotage() {
      @Override
      public VersionVector after(VersionVector seen) {
        return VersionVector.EMPTY;
      }
    };
  }

  private static Sabotage hasty() {
    return new Sabotage() {
      private int groups;

      @Override
      public boolean confirmsEarly() {
        return ++groups % 100 == 0;
      }
    };
  }

  private static Sabotage greedy() {
    return new Sabotage() {
      @Override
      public boolean everybodyInherits() {
        return true;
      }

      @Override
      public Set<Fault> needs() {
        return EnumSet.of(Fault.MEMBERS);
      }
    };
  }

  private static Sabotage overtaking() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.COLD_READS);
      }

      @Override
      public boolean overtakes() {
        return true;
      }
    };
  }

  private static Sabotage twice() {
    return new Sabotage() {
      private int commands;

      @Override
      public boolean again() {
        return ++commands % 100 == 0;
      }
    };
  }

  private static Sabotage unmarked() {
    return new Sabotage() {
      @Override
      public Request repeat(Request.Repeat repeat) {
        return repeat.step();
      }
    };
  }

  private static Sabotage believing() {
    return new Sabotage() {
      @Override
      public boolean believesRefusals() {
        return true;
      }
    };
  }

  private static Sabotage mistaking() {
    return new Sabotage() {
      @Override
      public boolean takesForFailed() {
        return true;
      }
    };
  }

  private static Sabotage repeating() {
    return new Sabotage() {
      @Override
      public boolean takesForNotSent() {
        return true;
      }
    };
  }

  private static Sabotage amnesiac() {
    return new Sabotage() {
      @Override
      public Request sent(Request request) {
        return switch (request) {
          case Request.Read r ->
              new Request.Read(
                  r.keyspace(),
                  r.key(),
                  r.type(),
                  r.query(),
                  VersionVector.EMPTY,
                  r.ordered(),
                  r.waitMillis());
          case Request.Write w ->
              new Request.Write(
                  w.keyspace(),
                  w.key(),
                  w.type(),
                  w.operation(),
                  VersionVector.EMPTY,
                  0,
                  w.ask(),
                  w.condition());
          default -> request;
        };
      }
    };
  }

  private static Sabotage reversing() {
    return new Sabotage() {
      @Override
      public Request sent(Request request) {
        return request instanceof Request.Write w && w.ask().isPresent()
            ? new Request.Write(
                w.keyspace(),
                w.key(),
                w.type(),
                w.operation(),
                w.after(),
                w.waitMillis(),
                w.ask().map(ask -> new Request.Ask(true, ask.query())))
            : request;
      }
    };
  }

  private static Sabotage unconditional() {
    return new Sabotage() {
      private int requests;

      @Override
      public Request sent(Request request) {
        return request instanceof Request.Write w
                && w.condition().isPresent()
                && ++requests % 10 == 0
            ? new Request.Write(
                w.keyspace(), w.key(), w.type(), w.operation(), w.after(), w.waitMillis())
            : request;
      }
    };
  }

  /** What waits in front of an update changes what its condition is about. */
  private static Sabotage judging() {
    return new Sabotage() {
      @Override
      public boolean judgesAtOnce() {
        return true;
      }
    };
  }

  private static Sabotage straying() {
    return new Sabotage() {
      @Override
      public Request sent(Request request) {
        if (!(request instanceof Request.Read r && r.query() instanceof Query.Exists)) {
          return request;
        }
        boolean isSet = r.type().filter(type -> type == CrdtType.AW_SET).isPresent();
        return new Request.Read(
            r.keyspace(),
            r.key(),
            Optional.of(isSet ? CrdtType.PN_COUNTER : CrdtType.AW_SET),
            r.query(),
            r.after(),
            r.ordered(),
            r.waitMillis());
      }
    };
  }

  private static Sabotage skipping() {
    return new Sabotage() {
      @Override
      public Request sent(Request request) {
        return request instanceof Request.Scan s && s.from().isPresent()
            ? new Request.Scan(
                s.keyspace(),
                Optional.of(Key.of(s.from().get() + "\u007f")),
                s.to(),
                s.type(),
                s.query(),
                s.limit(),
                s.want())
            : request;
      }
    };
  }

  private static Sabotage vague() {
    return new Sabotage() {
      @Override
      public Request sent(Request request) {
        return switch (request) {
          case Request.ReadAll r ->
              new Request.ReadAll(
                  r.keyspace(), r.reads(), VersionVector.EMPTY, r.ordered(), r.waitMillis());
          case Request.WriteAll w ->
              new Request.WriteAll(w.keyspace(), w.updates(), VersionVector.EMPTY, w.waitMillis());
          default -> request;
        };
      }
    };
  }

  private static Sabotage plain() {
    return new Sabotage() {
      @Override
      public Request sent(Request request) {
        return request instanceof Request.Repeat r ? r.step() : request;
      }
    };
  }

  private static Sabotage taciturn() {
    return new Sabotage() {
      @Override
      public boolean losesCalls() {
        return true;
      }
    };
  }

  private static Sabotage denying() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.CONNECTIONS);
      }

      @Override
      public boolean forgetsWhatLeft() {
        return true;
      }
    };
  }

  /** Now and then an answer is the one that had this number on a former connection. */
  private static Sabotage confusing() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.CONNECTIONS);
      }

      private final Map<Object, Map<Long, Envelope<Reply>>> former = new HashMap<>();
      private int changed;

      @Override
      public byte[] answers(Object way, byte[] bytes) {
        Map<Long, Envelope<Reply>> first = former.computeIfAbsent(way, w -> new HashMap<>());
        return eachFrame(
            bytes,
            answer -> {
              Envelope<Reply> before = first.putIfAbsent(answer.id(), answer);
              return answer.id() > 0 && before != null && ++changed % 10 == 0 ? before : answer;
            });
      }
    };
  }

  private static Sabotage unheard() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.CONNECTIONS);
      }

      @Override
      public byte[] answers(Object way, byte[] bytes) {
        return eachFrame(bytes, answer -> answer.message() instanceof Reply.Pong ? null : answer);
      }
    };
  }

  /** What was written, with other frames, or without some; as it is where not all are whole. */
  private static byte[] eachFrame(
      byte[] bytes, Function<Envelope<Reply>, @Nullable Envelope<Reply>> change) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteBuffer in = ByteBuffer.wrap(bytes);
    try {
      while (in.remaining() > Integer.BYTES) {
        byte[] frame = new byte[in.getInt()];
        in.get(frame);
        Envelope<Reply> answer = change.apply(ProtocolCodec.decodeReply(frame));
        if (answer != null) {
          byte[] other = ProtocolCodec.encode(answer.id(), answer.message());
          out.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(other.length).array());
          out.writeBytes(other);
        }
      }
    } catch (MalformedException | BufferUnderflowException | NegativeArraySizeException e) {
      return bytes; // a part of a frame
    }
    return in.hasRemaining() ? bytes : out.toByteArray();
  }

  private static Sabotage needless() {
    return new Sabotage() {
      @Override
      public Frame frame(String to, Frame frame) {
        return frame instanceof Frame.Updates u
            ? with(u, u.shipments().stream().map(SabotageTest::needless).toList())
            : frame;
      }
    };
  }

  private static Shipment needless(Shipment s) {
    return new Shipment(
        s.object(),
        s.origin(),
        s.predecessor(),
        VersionVector.EMPTY,
        s.last(),
        s.updates(),
        s.ageMillis(),
        s.content());
  }

  /** The windows, with something else in front of each. */
  private static LinkWindows each(LinkWindows windows, UnaryOperator<LinkWindow> spoils) {
    return dc -> spoils.apply(windows.window(dc));
  }

  private record Spoilt(LinkWindow window, BooleanSupplier opens, BooleanSupplier gives)
      implements LinkWindow {
    @Override
    public boolean isOpen() {
      return window.isOpen() || opens.getAsBoolean();
    }

    @Override
    public void take(long bytes) {
      window.take(bytes);
    }

    @Override
    public void give(long bytes) {
      if (gives.getAsBoolean()) {
        window.give(bytes);
      }
    }
  }

  private static Sabotage keeping() {
    return new Sabotage() {
      private int given;

      @Override
      public LinkWindows windows(Unit unit, LinkWindows windows) {
        return each(windows, w -> new Spoilt(w, () -> false, () -> ++given % 100 != 0));
      }
    };
  }

  private static Sabotage boundless() {
    return new Sabotage() {
      @Override
      public Set<Fault> needs() {
        return EnumSet.of(Fault.HANGS, Fault.LARGE);
      }

      @Override
      public LinkWindows windows(Unit unit, LinkWindows windows) {
        return each(windows, w -> new Spoilt(w, () -> true, () -> true));
      }
    };
  }

  private static Sabotage starving() {
    return new Sabotage() {
      @Override
      public boolean drops(Unit unit, Frame frame) {
        return unit.number() == 1 && frame instanceof Frame.Ack;
      }
    };
  }

  private static Frame.Status claiming(Frame.Status s, VersionVector through, long committed) {
    return new Frame.Status(
        s.wantResume(),
        s.epoch(),
        s.sequence(),
        through,
        s.life(),
        s.changes(),
        committed,
        s.waiting(),
        s.sentMillis());
  }

  /** Each datacenter is said to have what was done by one that nobody has ever heard of. */
  static Sabotage boasting() {
    VersionVector never = VersionVector.of(new ReplicaId("ghost", 1), 7);
    return new Sabotage() {
      @Override
      public int seconds() {
        return 150;
      }

      @Override
      public Frame frame(String to, Frame frame) {
        return frame instanceof Frame.Status s
            ? claiming(s, s.through().join(never), s.committed())
            : frame;
      }
    };
  }

  private static Sabotage trusting() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.USERS);
      }

      @Override
      public Users users(Users users) {
        List<User> all = new ArrayList<>(users.all());
        all.add(new User(Users.DEFAULT, Optional.empty(), all.getFirst().grants()));
        return new Users(all);
      }
    };
  }

  private static Sabotage gullible() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.USERS);
      }

      @Override
      public Users users(Users users) {
        List<User> all = new ArrayList<>(users.all());
        all.replaceAll(
            user ->
                user.name().equals(SimUsers.WRONGED)
                    ? new User(user.name(), Optional.of(SimUsers.wrong()), user.grants())
                    : user);
        return new Users(all);
      }
    };
  }

  private static Sabotage mute() {
    return new Sabotage() {
      private static final int SIGN_BYTES_MAX = 8;

      @Override
      public boolean carries(boolean takesTurns, byte[] bytes) {
        return takesTurns || bytes.length > SIGN_BYTES_MAX;
      }
    };
  }

  private static Sabotage deaf() {
    return new Sabotage() {
      @Override
      public Set<Fault> needs() {
        return EnumSet.of(Fault.LARGE);
      }

      @Override
      public boolean losesWhatIsApart() {
        return true;
      }
    };
  }

  private static Sabotage hurried() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.EMBEDDED);
      }

      @Override
      public boolean looksPastWhatIsHeld() {
        return true;
      }
    };
  }

  private static Sabotage concealing() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.WATCHERS);
      }

      private int changes;

      @Override
      public Effects.Visible visible(Effects.Visible visible) {
        return new Effects.Visible(
            visible.life(),
            visible.changes().stream().filter(c -> ++changes % 100 != 0).toList(),
            visible.here(),
            visible.far());
      }
    };
  }

  /** Now and then a window ends without one of its objects. */
  private static Sabotage dropping() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.EMBEDDED);
      }

      private int windows;

      @Override
      public Input.Absorbed absorbed(Input.Absorbed input) {
        return ++windows % 50 == 0
            ? new Input.Absorbed(input.updates().subList(1, input.updates().size()))
            : input;
      }
    };
  }

  private static Sabotage showing() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.EXPIRY);
      }

      @Override
      public long millis(long millis) {
        return 0;
      }
    };
  }

  /** Who removes what has expired believes that nobody has done anything. */
  private static Sabotage impatient() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.EXPIRY);
      }

      @Override
      public Set<Fault> needs() {
        return EnumSet.of(Fault.LOSS, Fault.REORDER, Fault.HANGS);
      }

      @Override
      public int seconds() {
        return 240;
      }

      @Override
      public Frame frame(String to, Frame frame) {
        return frame instanceof Frame.Status s ? claiming(s, s.through(), 0) : frame;
      }
    };
  }

  /** Others are not told what the removal of an object has seen. */
  private static Sabotage careless() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.EXPIRY);
      }

      @Override
      public Frame frame(String to, Frame frame) {
        return frame instanceof Frame.Updates u
            ? with(u, u.shipments().stream().map(SabotageTest::careless).toList())
            : frame;
      }
    };
  }

  private static Shipment careless(Shipment s) {
    CrdtState content = s.content();
    boolean removes =
        s.object().key().toString().startsWith("mortal")
            && content.isBottom()
            && !content.expires()
            && !content.isFull();
    return removes
        ? new Shipment(
            s.object(),
            s.origin(),
            s.predecessor(),
            s.needs(),
            s.last(),
            s.updates(),
            s.ageMillis(),
            CrdtState.bottom(content.type()).prepareNothing(s.origin(), s.last(), s.predecessor()))
        : s;
  }

  private static Frame with(Frame.Updates u, List<Shipment> shipments) {
    return new Frame.Updates(
        u.kind(),
        u.epoch(),
        u.sequence(),
        u.through(),
        u.deps(),
        u.cursor(),
        u.outage(),
        u.sentMillis(),
        shipments);
  }

  private static Sabotage rash() {
    return new Sabotage() {
      @Override
      public Set<Fault> needs() {
        return EnumSet.allOf(Fault.class);
      }

      @Override
      public int seconds() {
        return 400;
      }

      @Override
      public Frame frame(String to, Frame frame) {
        return frame instanceof Frame.StatesAndOffer s ? s.states() : frame;
      }
    };
  }

  private static Sabotage hoarding() {
    return new Sabotage() {
      @Override
      public Set<Fault> needs() {
        return EnumSet.of(Fault.PARTITIONS, Fault.ANSWERS);
      }

      @Override
      public int seconds() {
        return 240;
      }

      @Override
      public StreamSettings.Memory memory(StreamSettings.Memory memory) {
        return StreamSettings.Memory.DEFAULT;
      }
    };
  }

  private static Sabotage halving() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.PROGRAMS);
      }

      @Override
      public List<Request.Evaluate> turns(Request.Evaluate program) {
        int half = program.calls().size() / 2;
        return program.isUpdate() && program.guards().isEmpty()
            ? List.of(
                with(program, program.calls().subList(0, half)),
                with(program, program.calls().subList(half, program.calls().size())))
            : List.of(program);
      }
    };
  }

  private static Sabotage unguarded() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.PROGRAMS);
      }

      @Override
      public List<Request.Evaluate> turns(Request.Evaluate program) {
        return List.of(with(program, program.calls()));
      }
    };
  }

  /** Without guards. */
  private static Request.Evaluate with(Request.Evaluate program, List<Call> calls) {
    return new Request.Evaluate(
        program.keyspace(), calls, List.of(), program.after(), program.waitMillis());
  }

  private static Supplier<Sabotage> supplier(Supplier<Sabotage> makes) {
    return makes;
  }

  /** So that no name above is of a sabotage that is called otherwise by now. */
  @Test
  void chosen_areEight_orAll() {
    assertThat(chosen().count()).isEqualTo(ALL ? sabotages().count() : ALWAYS.size());
    assertThat(ALWAYS).hasSize(8);
  }

  /**
   * The pinned seed finds it at once. What a seed draws changes with each new fault, so where the
   * pinned one finds nothing any more, others are tried, and the new pin is printed.
   */
  @ParameterizedTest(name = "{0}")
  @MethodSource("chosen")
  void sabotage_isNoticed(String name, String says, Supplier<Sabotage> makes) throws IOException {
    OptionalLong pinned = SabotageSeeds.pinned(name);
    if (pinned.isPresent() && isNoticed(says, makes, pinned.getAsLong())) {
      return;
    }
    long first = SabotageSeeds.FROM.orElse(1);
    for (long seed = first; seed < first + SEEDS_MAX; seed++) {
      if (isNoticed(says, makes, seed)) {
        SabotageSeeds.pin(name, seed);
        return;
      }
    }
    throw new AssertionError(
        "nothing was noticed in seeds %d..%d".formatted(first, first + SEEDS_MAX - 1));
  }

  private static boolean isNoticed(String says, Supplier<Sabotage> makes, long seed) {
    Sabotage sabotage = makes.get();
    Optional<Violation> noticed = violation(sabotage, sabotage, seed);
    boolean matches =
        noticed
            .filter(v -> String.valueOf(v.getMessage()).matches("(?s).*(" + says + ").*"))
            .isPresent();
    // What happens without the sabotage as well is not its work.
    if (noticed.isEmpty()
        || (!matches && violation(sabotage, nothing(sabotage.features()), seed).isPresent())) {
      return false;
    }
    assertThat(noticed.get()).as("seed %s", seed).hasMessageMatching("(?s).*(" + says + ").*");
    return true;
  }

  /** Spoils nothing, but where the same takes part. */
  private static Sabotage nothing(Set<Feature> features) {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return features;
      }
    };
  }

  /** What is noticed where a sabotage has the faults and the time that it needs. */
  private static Optional<Violation> violation(Sabotage needs, Sabotage sabotage, long seed) {
    try {
      run(needs, sabotage, seed);
      return Optional.empty();
    } catch (Violation e) {
      return Optional.of(e);
    }
  }

  /** Runs a seed with the faults and the time that a sabotage needs. Throws what is noticed. */
  static void run(Sabotage needs, Sabotage sabotage, long seed) {
    new Simulation(new SimOptions(3, needs.needs(), needs.seconds(), false, sabotage), seed).run();
  }
}
