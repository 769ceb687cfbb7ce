package io.osier.adaptation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Which datacenters should hold a keyspace. Pure.
 *
 * <p>All is compared in bytes a second. Who does not hold it pays for what its clients ask: the
 * answers' bytes, and so many bytes for each millisecond of the way to the nearest holder and back.
 * Who holds it pays for what the clients of others update, as these updates are shipped at present,
 * and for what it stores. A move pays for the keyspace's bytes, spread over the horizon. A holder
 * is added where that clearly lowers what all pay together, the move included; it is removed where
 * what is saved is clearly more than what its clients, and those for whom it is the nearest, pay
 * then, and would pay for moving it back, too. So with constant rates each move lowers the sum, and
 * there is an end; and what nobody uses does not move. Where fewer hold it than are to, the best
 * one is added, whatever it costs.
 *
 * @param msWorth so many bytes a millisecond of waiting is worth
 * @param horizonSeconds in so long a move is to have paid for itself
 * @param storageWorth so many bytes on the links a byte is worth that a holder stores for a month
 *     of 30 days
 */
public record PlacementPolicy(double msWorth, double horizonSeconds, double storageWorth) {
  /** What is gained must be so many times what is paid, so that noise moves nothing. */
  static final double CLEARLY = 2;

  private static final double MONTH_SECONDS = 30 * 86_400;

  /** For clients that ask less often in a second nothing is moved. */
  static final double ASKS_MIN = 0.2;

  /** Where storage costs nothing. */
  public PlacementPolicy(double msWorth, double horizonSeconds) {
    this(msWorth, horizonSeconds, 0);
  }

  /**
   * What the clients of a datacenter ask in a second.
   *
   * @param reads of objects
   * @param readBytes of an answer
   * @param updates of objects
   * @param wayMillis by datacenter, the way there and back, as far as it was measured
   */
  public record Demand(
      double reads, double readBytes, double updates, Map<String, Double> wayMillis) {
    /** Nobody asks. */
    public static final Demand NONE = new Demand(0, 0, 0, Map.of());

    public Demand {
      wayMillis = Map.copyOf(wayMillis);
    }

    /** Reads and updates in a second. */
    public double asks() {
      return reads + updates;
    }
  }

  /**
   * A keyspace.
   *
   * @param demands by datacenter
   * @param holders that have it
   * @param candidates those that could get it, and may by its laws
   * @param mayRemove whether a holder may be removed at present
   * @param least so many hold it at least
   * @param shippedBytes of an update to one holder, as it is shipped at present
   * @param bytes of the whole keyspace
   */
  public record Keyspace(
      SortedMap<String, Demand> demands,
      Set<String> holders,
      Set<String> candidates,
      boolean mayRemove,
      int least,
      double shippedBytes,
      double bytes) {
    public Keyspace {
      demands = new TreeMap<>(demands);
      holders = new TreeSet<>(holders);
      candidates = new TreeSet<>(candidates);
    }

    /** Whether it has fewer holders than it is to have, as where one was given up. */
    public boolean isFew() {
      return holders.size() < least;
    }

    Keyspace with(Set<String> others) {
      return new Keyspace(demands, others, candidates, mayRemove, least, shippedBytes, bytes);
    }

    /** The same where holders may be removed. */
    Keyspace settled() {
      return new Keyspace(demands, holders, candidates, true, least, shippedBytes, bytes);
    }
  }

  /** What a move is. */
  public enum Kind {
    /** Nothing is moved. */
    STAY,
    /** A datacenter is to hold it, too. */
    ADD,
    /** A holder is to give it up. */
    REMOVE
  }

  /**
   * A move.
   *
   * @param dc whose; empty for none
   * @param gain what all pay less afterwards, in bytes a second, the move left out; NaN, which is
   *     worth nothing, where a way that matters is not known
   * @param why what was compared, in words
   */
  public record Move(Kind kind, String dc, double gain, String why) {
    /** Who holds it afterwards. */
    public List<String> holders(Collection<String> before) {
      Set<String> after = new TreeSet<>(before);
      switch (kind) {
        case ADD -> after.add(dc);
        case REMOVE -> after.remove(dc);
        case STAY -> {}
      }
      return List.copyOf(after);
    }
  }

  /** What all pay together where these hold it. */
  public double paid(Keyspace k, Set<String> holders) {
    double sum = 0;
    for (String dc : k.demands.keySet()) {
      sum += holders.contains(dc) ? 0 : asking(k, dc, holders);
    }
    for (String dc : holders) {
      sum += holding(k, dc);
    }
    return sum;
  }

  /** What a datacenter pays for what its clients ask of the nearest of these. */
  private double asking(Keyspace k, String dc, Set<String> holders) {
    Demand of = demand(k, dc);
    double way = nearest(k, dc, holders).orElse(0) * msWorth;
    return of.reads * (of.readBytes + way) + of.updates * way;
  }

  /** What a holder pays for the updates of others' clients, and for what it stores. */
  private double holding(Keyspace k, String dc) {
    double all = k.demands.values().stream().mapToDouble(Demand::updates).sum();
    return (all - demand(k, dc).updates) * k.shippedBytes + storing(k);
  }

  private double storing(Keyspace k) {
    return k.bytes * storageWorth / MONTH_SECONDS;
  }

  static Demand demand(Keyspace k, String dc) {
    return k.demands.getOrDefault(dc, Demand.NONE);
  }

  /** As one of the two has measured it; empty if neither has. */
  private static OptionalDouble way(Keyspace k, String from, String to) {
    return Stream.of(demand(k, from).wayMillis.get(to), demand(k, to).wayMillis.get(from))
        .filter(Objects::nonNull)
        .mapToDouble(millis -> millis)
        .findFirst();
  }

  /** The shortest known way to one of these. */
  static OptionalDouble nearest(Keyspace k, String from, Set<String> holders) {
    return holders.stream().flatMapToDouble(h -> way(k, from, h).stream()).min();
  }

  /** Of what a move costs or saves depends on, a way that nobody has measured, in words. */
  private static Optional<String> unknown(Keyspace k, Kind kind, String moved, Set<String> after) {
    for (Map.Entry<String, Demand> e : k.demands.entrySet()) {
      String dc = e.getKey();
      if (e.getValue().asks() == 0) {
        continue;
      }
      boolean leaves = kind == Kind.REMOVE && !dc.equals(moved) && !after.contains(dc);
      if (leaves && way(k, dc, moved).isEmpty()) {
        return Optional.of("the way from " + dc + " to " + moved + " is not known");
      }
      Set<String> asked = kind == Kind.ADD ? k.holders : after;
      if (!asked.contains(dc) && nearest(k, dc, asked).isEmpty()) {
        return Optional.of("no way from " + dc + " to " + String.join(", ", asked) + " is known");
      }
    }
    return Optional.empty();
  }

  /** The best move, if any is worth it. */
  public Move decide(Keyspace k) {
    Move best = new Move(Kind.STAY, "", k.isFew() ? Double.NEGATIVE_INFINITY : 0, "");
    List<String> compared = new ArrayList<>();
    for (Move move : moves(k)) {
      compared.add(move.why);
      if (isWorthIt(k, move) && move.gain > best.gain) {
        best = move;
      }
    }
    return best.kind != Kind.STAY
        ? best
        : new Move(
            Kind.STAY,
            "",
            0,
            compared.isEmpty()
                ? "no other datacenter may hold it, and none of the holders may go"
                : String.join("; ", compared));
  }

  /**
   * Those that should hold it if moves cost nothing, and as many as are to, if so many can; of many
   * datacenters only the best steps.
   */
  public Set<String> cheapest(Keyspace k) {
    Set<String> best = new TreeSet<>(k.holders);
    while (true) {
      double atLeast = k.with(best).isFew() ? Double.NEGATIVE_INFINITY : 0;
      Optional<Move> next =
          moves(k.with(best)).stream()
              .filter(move -> move.gain > atLeast)
              .max(Comparator.comparingDouble(Move::gain));
      if (next.isEmpty()) {
        return best;
      }
      best = new TreeSet<>(next.get().holders(best));
    }
  }

  /** Those that the laws allow. */
  private List<Move> moves(Keyspace k) {
    List<Move> moves = new ArrayList<>();
    for (String dc : k.candidates) {
      if (!k.holders.contains(dc)) {
        moves.add(move(k, Kind.ADD, dc));
      }
    }
    if (k.mayRemove && k.holders.size() > Math.max(1, k.least)) {
      k.holders.forEach(dc -> moves.add(move(k, Kind.REMOVE, dc)));
    }
    return moves;
  }

  private Move move(Keyspace k, Kind kind, String dc) {
    Set<String> after = new TreeSet<>(k.holders);
    if (kind == Kind.ADD) {
      after.add(dc);
    } else {
      after.remove(dc);
    }
    double gain = paid(k, k.holders) - paid(k, after);
    Optional<String> unknown = unknown(k, kind, dc, after);
    if (unknown.isPresent() && !k.isFew()) {
      return new Move(kind, dc, Double.NaN, dc + ": " + unknown.get());
    }
    double holding = holding(k, dc);
    double asking = kind == Kind.ADD ? gain + holding : holding - gain;
    String why =
        String.format(
            Locale.ROOT,
            kind == Kind.ADD
                ? "%s: %.0f B/s saved where it holds, %.0f B/s for updates of others%s, %.0f B/s"
                    + " for the move"
                : "%s: %.0f B/s saved while it holds, %.0f B/s for updates of others%s, %.0f B/s to"
                    + " move it back",
            dc,
            asking,
            holding - storing(k),
            storageWorth == 0
                ? ""
                : String.format(Locale.ROOT, ", %.0f B/s for storage", storing(k)),
            moving(k));
    return new Move(kind, dc, gain, why);
  }

  private double moving(Keyspace k) {
    return k.bytes / horizonSeconds;
  }

  private boolean isWorthIt(Keyspace k, Move move) {
    double holding = holding(k, move.dc);
    return switch (move.kind) {
      case ADD ->
          k.isFew()
              || (totalAsks(k, move.dc) >= ASKS_MIN
                  && move.gain + holding > CLEARLY * (holding + moving(k)));
      case REMOVE -> holding > CLEARLY * (holding - move.gain) + moving(k);
      case STAY -> false;
    };
  }

  /** What is asked in a second where a datacenter would be the nearest holder. */
  private static double totalAsks(Keyspace k, String dc) {
    double asks = 0;
    for (Map.Entry<String, Demand> e : k.demands.entrySet()) {
      OptionalDouble way = way(k, e.getKey(), dc);
      boolean isNearer =
          way.isPresent()
              && way.getAsDouble()
                  < nearest(k, e.getKey(), k.holders).orElse(Double.POSITIVE_INFINITY);
      asks += e.getKey().equals(dc) || isNearer ? e.getValue().asks() : 0;
    }
    return asks;
  }
}
