package io.osier.propagation.net;

import io.osier.core.ReplicaId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Of all processes that bear the name and incarnation of one datacenter, one is talked to. A copy
 * of a store that is started beside the original bears both, and is told from it by the number that
 * each start of a process draws.
 *
 * <p>Who greets while another one is connected waits until that one has answered a probe that was
 * sent after the greeting, or its connections have ended: so a process that was started anew is let
 * in although the connection of its former life lingers, and a second one is refused. Where it
 * cannot be told which of two that live is the first, because this datacenter has just begun to
 * listen or because it knew the one that comes as the first before, both are refused, until one of
 * them is not heard any more.
 *
 * <p>Also refused is one whose store does not know the start that sent the last updates: it is a
 * copy from before them, and would give their numbers to others.
 *
 * <p>Pure: what it decides others carry out, with no lock held, and time is passed in. Thread-safe.
 */
final class PeerIdentities {
  /** A rival that was not heard for so long is gone: it would have greeted several times. */
  static final long RIVAL_MILLIS = 10_000;

  /** Who is met first within so long after the first greeting of all may not be the first. */
  static final long YOUNG_MILLIS = 3_000;

  /** So many former starts a process tells at most: with fewer, it tells all. */
  static final int FORMER_MAX = 32;

  /** So many starts are known of one datacenter at most. */
  private static final int KNOWN_MAX = 32;

  private static final long RIVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(RIVAL_MILLIS);
  private static final long YOUNG_NANOS = TimeUnit.MILLISECONDS.toNanos(YOUNG_MILLIS);

  /** A connection with one that bears a name; compared by identity. */
  interface Line {
    /** Asks the other end to repeat a number. */
    void probe(long number);

    /** The other end is let in. */
    void welcome();

    /** The other end is refused; also after it was let in. */
    void refuse(String why);

    /** The connection is closed without a word: whoever comes again is judged anew. */
    void close();
  }

  /**
   * A process.
   *
   * @param start the number that it drew when it started; 0 if it does not tell: then it is let in,
   *     since it may be one that is known, and is spoken to in an older version
   * @param former those of the starts of its store before, newest first, at most {@link
   *     #FORMER_MAX}
   * @param address where it is connected, for words
   */
  record PeerProcess(ReplicaId replica, long start, List<Long> former, String address) {
    private boolean comesAfter(long other) {
      return start == other || other == 0 || former.contains(other) || former.size() >= FORMER_MAX;
    }

    private String words() {
      return "start " + Long.toHexString(start) + " at " + address;
    }
  }

  /**
   * One that has greeted and is not let in yet.
   *
   * @param number of the probe whose answer would show that another one lives
   */
  private record Waiting(Line line, PeerProcess process, long number) {}

  /** All that is known of those who bear one name and incarnation. */
  private static final class Name {
    private final long begunNanos;

    /** The connections over which one is talked to. */
    private final Map<Line, PeerProcess> open = new LinkedHashMap<>();

    private final List<Waiting> waiting = new ArrayList<>();

    /** Who was let in, by start, oldest first. */
    private final Set<Long> known = new LinkedHashSet<>();

    /** Who was alive beside another one: when it was last heard, by start. */
    private final Map<Long, Heard> rivals = new HashMap<>();

    /** Whose word counts; null if nobody's does. */
    private @Nullable PeerProcess first;

    /** The start that has sent updates here last; 0 if none is known to have. */
    private long sender;

    private Name(long nowNanos) {
      begunNanos = nowNanos;
    }

    private boolean isYoung(long nowNanos) {
      return known.size() <= 1 && nowNanos - begunNanos < YOUNG_NANOS;
    }

    private void learn(long start) {
      known.remove(start);
      known.add(start);
      if (known.size() > KNOWN_MAX) {
        known.remove(known.iterator().next());
      }
    }

    /** The connections that can be asked whether another process than this one lives. */
    private List<Line> others(long start) {
      List<Line> others = new ArrayList<>();
      open.forEach(
          (line, b) -> {
            if (b.start != start) {
              others.add(line);
            }
          });
      return others;
    }
  }

  private record Heard(PeerProcess process, long nanos) {}

  private final Map<ReplicaId, Name> names = new HashMap<>();
  private long probes;

  /** One has greeted, or answered a greeting, over a connection. */
  synchronized List<Runnable> greeted(Line line, PeerProcess process, long nowNanos) {
    if (process.start == 0) {
      return List.of(line::welcome);
    }
    Name name = names.computeIfAbsent(process.replica, r -> new Name(nowNanos));
    return List.copyOf(judge(name, line, process, nowNanos));
  }

  private List<Runnable> judge(Name name, Line line, PeerProcess process, long nowNanos) {
    List<Runnable> steps = new ArrayList<>();
    if (!process.comesAfter(name.sender)) {
      steps.add(refusal(line, outdated(process, name.sender)));
      return steps;
    }
    List<Line> others = name.others(process.start);
    if (!others.isEmpty()) {
      long number = ++probes;
      name.waiting.add(new Waiting(line, process, number));
      others.forEach(other -> steps.add(() -> other.probe(number)));
      return steps;
    }
    Optional<PeerProcess> rival = rival(name, process, nowNanos);
    if (rival.isPresent()) {
      name.rivals.put(process.start, new Heard(process, nowNanos));
      steps.add(refusal(line, undecided(process, rival.get())));
      return steps;
    }
    name.first = process;
    name.learn(process.start);
    name.open.put(line, process);
    steps.add(line::welcome);
    return steps;
  }

  /** One that was alive beside this one a moment ago, unless this one was there first. */
  private static Optional<PeerProcess> rival(Name name, PeerProcess process, long nowNanos) {
    name.rivals.values().removeIf(h -> nowNanos - h.nanos >= RIVAL_NANOS);
    PeerProcess first = name.first;
    boolean isRival = name.rivals.containsKey(process.start);
    if (first != null
        && (first.start == process.start || (!isRival && process.former.contains(first.start)))) {
      return Optional.empty();
    }
    return name.rivals.values().stream()
        .map(Heard::process)
        .filter(b -> b.start != process.start)
        .findFirst();
  }

  /** The other end of a connection has repeated a number, and so was alive after it was sent. */
  synchronized List<Runnable> answered(Line line, long number, long nowNanos) {
    for (Name name : names.values()) {
      PeerProcess alive = name.open.get(line);
      if (alive != null) {
        return answered(name, alive, number, nowNanos);
      }
    }
    return List.of();
  }

  private List<Runnable> answered(Name name, PeerProcess alive, long number, long nowNanos) {
    List<Runnable> steps = new ArrayList<>();
    PeerProcess rival = null; // of whom it cannot be told whether it was first
    for (Waiting w : List.copyOf(name.waiting)) {
      if (w.number <= number && w.process.start != alive.start) {
        name.waiting.remove(w);
        name.rivals.put(w.process.start, new Heard(w.process, nowNanos));
        boolean isUndecided = name.isYoung(nowNanos) || name.known.contains(w.process.start);
        rival = isUndecided ? w.process : rival;
        String why = isUndecided ? undecided(w.process, alive) : second(w.process, alive);
        steps.add(refusal(w.line, why));
      }
    }
    if (!steps.isEmpty()) {
      name.rivals.put(alive.start, new Heard(alive, nowNanos));
    }
    if (rival != null) {
      for (Map.Entry<Line, PeerProcess> open : name.open.entrySet()) {
        steps.add(refusal(open.getKey(), undecided(open.getValue(), rival)));
      }
      name.open.clear();
      name.first = null;
      steps.addAll(judgeFree(name, nowNanos));
    }
    return List.copyOf(steps);
  }

  /** A connection has ended: who waited for that is judged anew. */
  synchronized List<Runnable> left(Line line, long nowNanos) {
    List<Runnable> steps = new ArrayList<>();
    for (Name name : names.values()) {
      name.waiting.removeIf(w -> w.line == line);
      PeerProcess gone = name.open.remove(line);
      if (gone != null) {
        name.rivals.computeIfPresent(gone.start, (s, h) -> new Heard(gone, nowNanos));
        steps.addAll(judgeFree(name, nowNanos));
      }
    }
    return List.copyOf(steps);
  }

  /** Judges those anew who wait, and nobody is left who could be asked. */
  private List<Runnable> judgeFree(Name name, long nowNanos) {
    List<Runnable> steps = new ArrayList<>();
    List<Waiting> free =
        name.waiting.stream().filter(w -> name.others(w.process.start).isEmpty()).toList();
    name.waiting.removeAll(free);
    free.forEach(w -> steps.addAll(judge(name, w.line, w.process, nowNanos)));
    return steps;
  }

  /** Updates have come over a connection: the store of whoever comes later must know of them. */
  synchronized void sent(Line line) {
    for (Name name : names.values()) {
      PeerProcess process = name.open.get(line);
      if (process != null) {
        name.sender = process.start;
      }
    }
  }

  /** Of datacenters that are none of these nothing is remembered, and none of them waits on. */
  synchronized List<Runnable> forgetOthers(Set<String> peers) {
    return forget(replica -> !peers.contains(replica.dc()));
  }

  /** Of an incarnation that has ended nothing is remembered, and nobody waits on as it. */
  synchronized List<Runnable> forgetBefore(ReplicaId newest) {
    return forget(r -> r.dc().equals(newest.dc()) && r.incarnation() < newest.incarnation());
  }

  /** What no probe will be answered for any more must not wait for that. */
  private List<Runnable> forget(Predicate<ReplicaId> whom) {
    List<Runnable> steps = new ArrayList<>();
    names.forEach(
        (replica, name) -> {
          if (whom.test(replica)) {
            name.waiting.forEach(w -> steps.add(w.line::close));
          }
        });
    names.keySet().removeIf(whom);
    return List.copyOf(steps);
  }

  private static Runnable refusal(Line line, String why) {
    return () -> line.refuse(why);
  }

  private static String second(PeerProcess late, PeerProcess first) {
    return "a second process runs as '"
        + late.replica.dc()
        + "', with a copy of its store: "
        + first.words()
        + " was here first and is alive; refused is "
        + late.words()
        + ". End one of them; what was a copy needs 'osier rebuild' once both have run";
  }

  private static String undecided(PeerProcess refused, PeerProcess other) {
    return "two processes run as '"
        + refused.replica.dc()
        + "', with copies of one store, and it cannot be told which was first: "
        + refused.words()
        + " and "
        + other.words()
        + " are both refused. End one of them: the other one is let in "
        + RIVAL_MILLIS / 1_000
        + " s later";
  }

  private static String outdated(PeerProcess refused, long sender) {
    return "the store of '"
        + refused.replica.dc()
        + "' ("
        + refused.words()
        + ") is a copy from before start "
        + Long.toHexString(sender)
        + ", whose updates are here: it would give their numbers to others. Run 'osier rebuild'"
        + " there: it then begins a new incarnation";
  }
}
