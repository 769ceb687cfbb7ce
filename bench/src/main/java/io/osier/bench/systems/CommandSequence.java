package io.osier.bench.systems;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * The commands with which Chevrotain was measured (its section 4.1), as operations on
 * LWW-element-sets in its own model: one set of the keys there are, and for each key a set of its
 * values. 210 keys are inserted, then values 1000 to 1004 of each; later values 1000 and 1001 are
 * removed from every second key, and then every fourth key.
 *
 * <p>A removed key is taken from the set of keys; its values stay where they are and are not shown,
 * as Chevrotain does it. So a removal needs no earlier addition at its datacenter: that may still
 * be on its way from another one, and the later timestamp decides.
 *
 * <p>The commands are 1,523. The paper says 1,723, which no reading of its text adds up to.
 */
public final class CommandSequence {
  static final int KEYS = 210;
  static final int VALUES = 5;
  static final int VALUE_FIRST = 1_000;
  static final int VALUES_REMOVED = 2;

  /** The keys that are left: 53 of 210 are every fourth. */
  static final int KEYS_LEFT = 157;

  /**
   * The least pause between the last insertions and the last removals. The datacenters' clocks may
   * differ by some milliseconds, and a removal is meant to be the later one.
   */
  private static final long GAP_NANOS = 20_000_000;

  private static final String KEY_SET = "keys";

  public static final CrdtType TYPE = CrdtType.LWW_SET_ADD_BIAS;

  private static final int IN_FLIGHT = 200;

  private static final List<Command> ALL = all();

  private static List<Command> all() {
    List<Command> all = new ArrayList<>(insertions());
    all.addAll(removals());
    return all;
  }

  private CommandSequence() {}

  /**
   * A command.
   *
   * @param object the key of the set that the command changes
   */
  public record Command(String object, Operation operation) {}

  /**
   * A command and its time.
   *
   * @param atNanos nanoseconds since the beginning
   */
  public record Timed(long atNanos, Command command) {}

  /** Returns the insertions in order: the keys, then the values of each key. */
  static List<Command> insertions() {
    List<Command> commands = new ArrayList<>();
    for (int key = 0; key < KEYS; key++) {
      commands.add(new Command(KEY_SET, new Operation.Add(nameOf(key))));
    }
    for (int key = 0; key < KEYS; key++) {
      for (int value = 0; value < VALUES; value++) {
        commands.add(new Command("k" + key, new Operation.Add(valueOf(value))));
      }
    }
    return commands;
  }

  /** Returns the removals in order: values of every second key, then every fourth key. */
  static List<Command> removals() {
    List<Command> commands = new ArrayList<>();
    for (int key = 0; key < KEYS; key += 2) {
      for (int value = 0; value < VALUES_REMOVED; value++) {
        commands.add(new Command("k" + key, new Operation.Remove(valueOf(value))));
      }
    }
    for (int key = 0; key < KEYS; key += 4) {
      commands.add(new Command(KEY_SET, new Operation.Remove(nameOf(key))));
    }
    return commands;
  }

  private static Value nameOf(int key) {
    return Value.of("k" + key);
  }

  private static Value valueOf(int value) {
    return Value.of(VALUE_FIRST + (long) value);
  }

  /**
   * Returns the sequence several times over on the same objects, at an even pace. Each time removes
   * the same, so the removals of the last time decide, whatever the order before; they come after a
   * short pause.
   */
  public static List<Timed> plan(int times, int perSecond) {
    List<Timed> plan = new ArrayList<>();
    long period = 1_000_000_000L / perSecond;
    long at = 0;
    for (int time = 1; time <= times; time++) {
      for (Command command : insertions()) {
        plan.add(new Timed(at, command));
        at += period;
      }
      at += time == times ? GAP_NANOS : 0;
      for (Command command : removals()) {
        plan.add(new Timed(at, command));
        at += period;
      }
    }
    return plan;
  }

  /** Returns the elements that each set must hold in the end, by the set's key. */
  public static Map<String, Set<Value>> expected() {
    Map<String, Set<Value>> objects = new TreeMap<>();
    for (Command command : insertions()) {
      Set<Value> set = objects.computeIfAbsent(command.object, k -> new TreeSet<>());
      set.addAll(((Operation.Add) command.operation).elements());
    }
    for (Command command : removals()) {
      Set<Value> set = requireNonNull(objects.get(command.object), "what is removed was added");
      ((Operation.Remove) command.operation).elements().forEach(set::remove);
    }
    return objects;
  }

  /** Makes the next call of the sequence, which begins again when it has ended. */
  static CompletionStage<?> call(Keyspace session, long number) {
    Command command = ALL.get((int) (number % ALL.size()));
    return session.updateAsync(Key.of(command.object), TYPE, command.operation);
  }

  /**
   * Completes the sequence after several clients have executed parts of it: executes all commands
   * once more, each at the next datacenter, and waits until every datacenter shows {@link
   * #expected}.
   *
   * @throws OsierException INTERNAL if a datacenter does not within a minute
   */
  public static void end(List<String> dcs, Function<String, OsierClient> connect, String keyspace)
      throws InterruptedException {
    List<OsierClient> clients = new ArrayList<>();
    try {
      dcs.forEach(dc -> clients.add(connect.apply(dc)));
      List<Keyspace> at = clients.stream().map(c -> c.session().keyspace(keyspace)).toList();
      all(at, insertions());
      Thread.sleep(GAP_NANOS / 1_000_000);
      all(at, removals());
      Map<String, Set<Value>> expected = expected();
      long deadline = System.nanoTime() + 60_000_000_000L;
      for (Keyspace one : at) {
        while (!shown(one).equals(expected)) {
          if (System.nanoTime() > deadline) {
            throw new OsierException(
                ErrorCode.INTERNAL,
                "a datacenter does not show in " + keyspace + " what the sequence leaves");
          }
          Thread.sleep(5);
        }
      }
    } finally {
      clients.forEach(OsierClient::close);
    }
  }

  private static void all(List<Keyspace> at, List<Command> commands) {
    OsierCalls.all(
        commands.size(),
        IN_FLIGHT,
        i -> {
          Command command = commands.get(i);
          return at.get(i % at.size()).updateAsync(Key.of(command.object), TYPE, command.operation);
        });
  }

  private static Map<String, Set<Value>> shown(Keyspace keyspace) {
    Map<String, Set<Value>> shown = new TreeMap<>();
    Keyspace.Page page =
        keyspace.scan(Optional.empty(), Optional.of(TYPE), new Query.Whole(), 10_000);
    for (Keyspace.Row row : page.rows()) {
      shown.put(row.key().toString(), new TreeSet<>(((Reading.Many) row.value()).values()));
    }
    return shown;
  }
}
