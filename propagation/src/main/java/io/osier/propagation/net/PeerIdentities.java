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
 * Chooses which of several processes with the name and incarnation of one datacenter is accepted. A
 * copy of a store that is started beside the original has the same name and incarnation; the random
 * number that each start of a process draws tells them apart.
 *
 * <p>A process that greets while another one is connected waits until that one has answered a probe
 * that was sent after the greeting, or its connections have ended: so a restarted process is
 * accepted although the connection of its former life lingers, and a second process is refused. If
 * it cannot be told which of two live processes was first, because this datacenter has just begun
 * to listen or because it knew the later one before, both are refused until one of them is not
 * heard any more.
 *
 * <p>A process is also refused if its store does not know the start that sent the last updates: it
 * is a copy from before them, and would give their numbers to other updates.
 *
 * <p>Pure: the caller carries out the returned steps, with no lock held, and time is passed in.
 * Thread-safe.
 */
final class PeerIdentities {
  /** A rival that was not heard for this long is gone: it would have greeted several times. */
  static final long RIVAL_MILLIS = 10_000;

  /**
   * A process that is first met within this time after the first greeting of all may not be the
   * first.
   */
  static final long YOUNG_MILLIS = 3_000;

  /** The most former starts that a process reports; if it reports fewer, those are all. */
  static final int FORMER_MAX = 32;

  /** The most starts that are remembered of one datacenter. */
  private static final int KNOWN_MAX = 32;

  private static final long RIVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(RIVAL_MILLIS);
  private static final long YOUNG_NANOS = TimeUnit.MILLISECONDS.toNanos(YOUNG_MILLIS);

  /** A connection with a process of a name; compared by identity. */
  interface Line {
    /** Asks the other end to repeat a number. */
    void probe(long number);

    /** Accepts the other end. */
    void welcome();

    /** Refuses the other end; also after it was accepted. */
    void refuse(String why);

    /**
     * Closes the connection without a reason: when the other end comes again, it is judged anew.
     */
    void close();
  }

  /**
   * A process.
   *
   * @param start the number that it drew when it started; 0 if unknown: then it is accepted, since
   *     it may be a known process that speaks an older version
   * @param former the former starts of its store, newest first, at most {@link #FORMER_MAX}
   * @param address where it is connected, for messages
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
   * A process that has greeted and is not accepted yet.
   *
   * @param number of the probe whose answer would show that another process lives
   */
  private record Waiting(Line line, PeerProcess process, long number) {}

  /** All that is known of the processes of one name and incarnation. */
  private static final class Name {
    private final long begunNanos;

    /** The connections of accepted processes. */
    private final Map<Line, PeerProcess> open = new LinkedHashMap<>();

    private final List<Waiting> waiting = new ArrayList<>();

    /** The starts of accepted processes, oldest first. */
    private final Set<Long> known = new LinkedHashSet<>();

    /** By start, the processes that were alive beside another one, and when each was last heard. */
    private final Map<Long, Heard> rivals = new HashMap<>();

    /** The process that is accepted; null if none is. */
    private @Nullable PeerProcess first;

    /** The start that has sent updates here last; 0 if none is known. */
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

    /** Returns the connections on which to probe whether another process than this one lives. */
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

  /**
   * Judges a process that has greeted, or answered a greeting, over a connection. Returns the steps
   * to carry out.
   */
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

  /** Returns a process that was alive beside this one a moment ago, unless this one was first. */
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

  /**
   * Notes that the other end of a connection has repeated a number, so that it was alive after that
   * was sent.
   */
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
    PeerProcess rival = null; // the waiting process of which it cannot be told whether it was first
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

  /** Notes that a connection has ended, and judges anew the processes that waited for that. */
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

  /** Judges anew the waiting processes for which no other process is left to be probed. */
  private List<Runnable> judgeFree(Name name, long nowNanos) {
    List<Runnable> steps = new ArrayList<>();
    List<Waiting> free =
        name.waiting.stream().filter(w -> name.others(w.process.start).isEmpty()).toList();
    name.waiting.removeAll(free);
    free.forEach(w -> steps.addAll(judge(name, w.line, w.process, nowNanos)));
    return steps;
  }

  /**
   * Notes that updates were received over a connection: the stores of later processes must know its
   * start.
   */
  synchronized void sent(Line line) {
    for (Name name : names.values()) {
      PeerProcess process = name.open.get(line);
      if (process != null) {
        name.sender = process.start;
      }
    }
  }

  /** Forgets the datacenters that are not among these, and closes their waiting connections. */
  synchronized List<Runnable> forgetOthers(Set<String> peers) {
    return forget(replica -> !peers.contains(replica.dc()));
  }

  /** Forgets the earlier incarnations of a datacenter, and closes their waiting connections. */
  synchronized List<Runnable> forgetBefore(ReplicaId newest) {
    return forget(r -> r.dc().equals(newest.dc()) && r.incarnation() < newest.incarnation());
  }

  /**
   * Closes the waiting connections of forgotten names, since no probe will be answered for them any
   * more.
   */
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
