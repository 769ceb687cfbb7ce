package io.osier.adaptation;

import static java.util.Objects.requireNonNull;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;

/**
 * Finds the hot objects of a partition and moves them between the modes.
 *
 * <p>The signal is the stream of updates. It goes to a {@link SpaceSaving} summary whose counts are
 * halved once a half-life, so that old heat fades, and to a {@link Sensor} for each object that the
 * summary keeps: memory is bounded by its capacity. Once a period the policy judges the top k; a
 * judgement must hold for some periods in a row before it is acted on, and what leaves the top k
 * goes back to operations. It is blind to objects that the summary lost: when they come back they
 * are measured anew. A bad move is undone by the next judgements, and costs no more than the bytes
 * it was wrong about, since switching is free.
 *
 * <p>Where nothing was updated for many half-lives it forgets what it measured, which says nothing
 * any more, and rests: nothing is to be decided until there is an update, which begins the first
 * period anew.
 *
 * <p>Pure and deterministic; used by one thread.
 *
 * @param <T> objects; need equals and hashCode
 */
public final class Planner<T> {
  /**
   * An object that changes its mode.
   *
   * @param cause why, for statistics
   * @param reason the figures that led to it, for the log
   */
  public record Switch<T>(T object, Mode to, Cause cause, String reason) {}

  /** Why an object changes its mode. */
  public enum Cause {
    /** The policy finds states better for it. */
    STATES_BETTER("states-better"),
    /** The policy finds operations better for it. */
    OPERATIONS_BETTER("operations-better"),
    /** The bound leaves no time to hold anything back. */
    NO_TIME_TO_HOLD("no-time-to-hold"),
    /** It is not among the hottest any more. */
    LEFT_THE_TOP("left-the-top");

    private final String label;

    Cause(String label) {
      this.label = label;
    }

    /** The word for people and for metrics. */
    public String label() {
      return label;
    }

    private static Cause of(Mode better, Conditions conditions) {
      if (better == Mode.STATE) {
        return STATES_BETTER;
      }
      return conditions.holdNanos() <= 0 ? NO_TIME_TO_HOLD : OPERATIONS_BETTER;
    }
  }

  /**
   * A hot object.
   *
   * @param count its weight in the summary, at most
   * @param error by how much the count may be too high
   */
  public record Hot<T>(
      T object, double perSecond, long objectBytes, double opBytes, long count, long error) {}

  /** After so many half-lives without an update a rate is a thousandth of what it was. */
  private static final int COLD_HALF_LIVES = 10;

  private enum Phase {
    /** Judges every period. */
    MEASURING,
    /** Nothing is measured, and nothing is to be decided. */
    RESTING,
    /** An update has come, and the next decision begins the first period. */
    WAKING
  }

  private final AdaptationSettings settings;
  private final SwitchPolicy policy;
  private SpaceSaving<T, Sensor> summary;

  /** Objects in STATE mode, in the order in which they came to it. */
  private final Set<T> states = new java.util.LinkedHashSet<>();

  /** For how many periods the policy has wanted the other mode. */
  private final Map<T, Integer> wishes = new HashMap<>();

  private final ArrayDeque<Switch<T>> pending = new ArrayDeque<>();
  private long nextDecisionNanos;
  private long lastDecisionNanos;
  private long halvedNanos;
  private Phase phase = Phase.MEASURING;

  /** Whether something was updated or flushed since the last judgement. */
  private boolean touched;

  private long touchedNanos;
  private final Map<Cause, Long> switches = new EnumMap<>(Cause.class);

  public Planner(AdaptationSettings settings, long nowNanos) {
    this.settings = settings;
    this.summary = emptySummary();
    this.policy =
        switch (settings.policy()) {
          case RATIO -> new SwitchPolicy.Ratio(settings.ratioThreshold());
          case COST -> new SwitchPolicy.Cost();
        };
    this.lastDecisionNanos = nowNanos;
    this.halvedNanos = nowNanos;
    this.touchedNanos = nowNanos;
    this.nextDecisionNanos = nowNanos + settings.periodMillis() * 1_000_000L;
  }

  /**
   * Takes note of an update.
   *
   * @param opBytes what it takes as an operation
   * @param objectBytes the object's size after it
   */
  public void updated(T object, int opBytes, long objectBytes) {
    touched = true;
    if (phase == Phase.RESTING) {
      phase = Phase.WAKING;
    }
    summary.offer(object).updated(opBytes, objectBytes);
  }

  private SpaceSaving<T, Sensor> emptySummary() {
    return new SpaceSaving<>(settings.capacity(), Sensor::new, this::dropped);
  }

  private void dropped(T object, Sensor sensor) {
    if (!wishes.isEmpty()) { // nearly never, and what is dropped is in no processor's cache
      wishes.remove(object);
    }
    sensor.clear();
  }

  /** Takes note of a flush of so many updates that took so many bytes. */
  public void flushed(T object, int updates, long bytes) {
    Sensor sensor = summary.note(object);
    if (sensor != null) {
      sensor.flushed(updates, bytes);
    }
  }

  public Mode modeOf(T object) {
    return states.contains(object) ? Mode.STATE : Mode.OP;
  }

  /** What is measured of an object, in words. */
  public String measured(T object) {
    Sensor sensor = summary.note(object);
    return sensor == null
        ? "not measured"
        : String.format(
            Locale.ROOT,
            "%.1f updates/s, op %.0f B, object %d B",
            sensor.perSecond(),
            sensor.opBytes(),
            sensor.objectBytes());
  }

  public boolean isMeasured(T object) {
    return summary.note(object) != null;
  }

  /** What is measured of an object, and what the policy compares, in words. */
  public String explain(T object, Conditions conditions) {
    Sensor sensor = summary.note(object);
    return sensor == null
        ? measured(object)
        : measured(object) + "; " + policy.explain(sensor, conditions);
  }

  /** When {@link #decide} is due; Long.MAX_VALUE if never without an update. */
  public long nextDecisionNanos() {
    return switch (phase) {
      case MEASURING -> nextDecisionNanos;
      case RESTING -> Long.MAX_VALUE;
      case WAKING -> Long.MIN_VALUE;
    };
  }

  /**
   * Decides, if it is time. The modes have changed when this returns.
   *
   * @return the objects that changed their mode now, at most one group
   */
  public List<Switch<T>> decide(long nowNanos, Conditions conditions) {
    if (nowNanos < nextDecisionNanos()) {
      return List.of();
    }
    if (phase == Phase.WAKING) {
      begin(nowNanos);
      return List.of();
    }
    if (isCold(nowNanos)) {
      rest();
      return List.of();
    }
    if (pending.isEmpty()) {
      judge(nowNanos, conditions);
    }
    nextDecisionNanos = nowNanos + settings.periodMillis() * 1_000_000L;
    return act();
  }

  /** Half of the first period is over: where an update comes on average, and sensors assume so. */
  private void begin(long nowNanos) {
    long halfNanos = settings.periodMillis() * 1_000_000L / 2;
    phase = Phase.MEASURING;
    lastDecisionNanos = nowNanos - halfNanos;
    halvedNanos = nowNanos;
    touchedNanos = nowNanos;
    nextDecisionNanos = nowNanos + halfNanos;
  }

  /** Whether all that is measured is so old that it says nothing. */
  private boolean isCold(long nowNanos) {
    if (touched) {
      touched = false;
      touchedNanos = nowNanos;
    }
    long coldNanos = COLD_HALF_LIVES * (settings.halfLifeMillis() * 1_000_000L);
    return states.isEmpty() && pending.isEmpty() && nowNanos - touchedNanos >= coldNanos;
  }

  private void rest() {
    phase = Phase.RESTING;
    summary = emptySummary();
    wishes.clear();
  }

  private void judge(long nowNanos, Conditions conditions) {
    double seconds = Math.max(1e-3, (nowNanos - lastDecisionNanos) / 1e9);
    lastDecisionNanos = nowNanos;
    summary.forEachNote(sensor -> sensor.period(seconds, settings.halfLifeMillis() / 1e3));
    if (nowNanos - halvedNanos >= settings.halfLifeMillis() * 1_000_000L) {
      halvedNanos = nowNanos;
      summary.halve();
    }
    Set<T> top = new HashSet<>();
    Map<T, Switch<T>> wanted = new LinkedHashMap<>();
    for (SpaceSaving.Entry<T, Sensor> entry : summary.top(settings.topK())) {
      T object = entry.item();
      top.add(object);
      Sensor sensor = entry.note();
      Mode current = modeOf(object);
      Mode better = policy.decide(sensor, current, conditions);
      if (better == current) {
        wishes.remove(object);
      } else if (wishes.merge(object, 1, Integer::sum) >= settings.stablePeriods()) {
        Cause cause = Cause.of(better, conditions);
        wanted.put(object, new Switch<>(object, better, cause, reason(sensor, conditions)));
      }
    }
    // What left the top k goes back first, to make room.
    for (T object : states) {
      if (!top.contains(object)) {
        String reason = "left the top " + settings.topK();
        pending.add(new Switch<>(object, Mode.OP, Cause.LEFT_THE_TOP, reason));
      }
    }
    pending.addAll(wanted.values());
  }

  private String reason(Sensor sensor, Conditions conditions) {
    return String.format(
        Locale.ROOT,
        "%.1f updates/s, op %.0f B, object %d B, hold %d ms, %d peers",
        sensor.perSecond(),
        sensor.opBytes(),
        sensor.objectBytes(),
        conditions.holdNanos() / 1_000_000,
        conditions.peers());
  }

  private List<Switch<T>> act() {
    int most = settings.group() == 0 ? Integer.MAX_VALUE : settings.group();
    List<Switch<T>> done = new ArrayList<>();
    while (!pending.isEmpty() && done.size() < most) {
      Switch<T> step = pending.poll();
      boolean changed =
          step.to == Mode.STATE ? states.add(step.object) : states.remove(step.object);
      wishes.remove(step.object);
      if (changed) {
        switches.merge(step.cause, 1L, Long::sum);
        done.add(step);
      }
    }
    return done;
  }

  public int stateObjects() {
    return states.size();
  }

  /** How often objects changed their modes, by why; all causes are there. */
  public Map<Cause, Long> switchesByCause() {
    Map<Cause, Long> all = new EnumMap<>(Cause.class);
    for (Cause cause : Cause.values()) {
      all.put(cause, switches.getOrDefault(cause, 0L));
    }
    return all;
  }

  /**
   * The hottest objects, hottest first: by their rates, which follow a change sooner than the
   * counts and have no share of what others left behind in their counters.
   */
  public List<Hot<T>> hot(int limit) {
    if (limit <= 0) {
      return List.of();
    }
    // Only the hottest are sorted: this is asked for every second, and there are thousands.
    PriorityQueue<Hot<T>> hottest =
        new PriorityQueue<>(Comparator.comparingDouble(Hot<T>::perSecond));
    for (SpaceSaving.Entry<T, Sensor> entry : summary.top(summary.size())) {
      Sensor sensor = entry.note();
      if (hottest.size() < limit) {
        hottest.add(hot(entry));
      } else if (sensor.perSecond() > requireNonNull(hottest.peek()).perSecond()) {
        hottest.poll();
        hottest.add(hot(entry));
      }
    }
    return hottest.stream()
        .sorted(Comparator.comparingDouble(Hot<T>::perSecond).reversed())
        .toList();
  }

  private Hot<T> hot(SpaceSaving.Entry<T, Sensor> entry) {
    Sensor sensor = entry.note();
    return new Hot<>(
        entry.item(),
        sensor.perSecond(),
        sensor.objectBytes(),
        sensor.opBytes(),
        entry.count(),
        entry.error());
  }
}
