package io.osier.datacenter.redis.command.data;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.datacenter.partition.Cluster;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.CommandList;
import io.osier.datacenter.redis.command.Cursors;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisCommand.Translator;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Does Redis' commands at a partition, in virtual time. */
final class RedisNode {
  static final Map<String, Translator> COMMANDS = DataCommands.all();

  private final Cluster cluster;
  private final Cluster.Dc dc;
  private final int partitions;
  private final List<byte[]> places = new ArrayList<>();
  private long seed;

  /** By how much the clock that commands are translated with is ahead of the partition's. */
  long aheadMillis;

  /** What is done between two steps of a command. */
  Runnable between = () -> {};

  /** Hears of each request. */
  Consumer<Request> asked = request -> {};

  RedisNode(Cluster cluster, String dc, int partitions) {
    this.cluster = cluster;
    this.dc = cluster.dc(dc);
    this.partitions = partitions;
  }

  /** One alone. */
  static RedisNode alone() {
    return new RedisNode(
        new Cluster(KeyspacePolicy.session("k", Duration.ofSeconds(1)), "eu"), "eu", 1);
  }

  Cluster.Dc dc() {
    return dc;
  }

  long millis() {
    return cluster.millis();
  }

  void pass(long millis) {
    cluster.run(millis);
  }

  static RedisCommand command(String name) {
    return CommandList.named(name, requireNonNull(COMMANDS.get(name), name));
  }

  /** The answer, as {@link Texted} writes it. */
  String text(String... words) {
    return Texted.text(answer(words));
  }

  /** The answer to words of one character a byte. */
  RespValue answer(String... words) {
    RedisCommand command = command(words[0]);
    byte[][] bytes = Stream.of(words).map(w -> w.getBytes(ISO_8859_1)).toArray(byte[][]::new);
    if (command.arity() < 0 ? words.length < -command.arity() : words.length != command.arity()) {
      return new RespValue.Err("ERR wrong number of arguments");
    }
    return follow(
        () -> command.does().plan(scope(), bytes), request -> checkNamed(command, bytes, request));
  }

  /** What a transaction asks for must be known before its turn. */
  private static void checkNamed(RedisCommand command, byte[][] words, Request request) {
    if (!command.name().startsWith("SORT")) { // which looks up keys of names that it has read
      List<byte[]> named = command.keys().of(words);
      for (Key key : keys(request)) {
        assertThat(named).as(command.name()).anyMatch(name -> Key.of(name).equals(key));
      }
    }
  }

  private static List<Key> keys(Request request) {
    return switch (request) {
      case Request.Read r -> List.of(r.key());
      case Request.Write w -> List.of(w.key());
      case Request.Evaluate e -> e.calls().stream().flatMap(call -> call.keys().stream()).toList();
      default -> throw new AssertionError("no script may ask for " + request);
    };
  }

  /** Takes all steps of a plan. */
  RespValue follow(Supplier<Plan> begin) {
    return follow(begin, request -> {});
  }

  private RespValue follow(Supplier<Plan> begin, Consumer<Request> check) {
    try {
      Plan plan = begin.get();
      while (plan instanceof Plan.Ask ask) {
        List<Reply> replies = new ArrayList<>();
        for (Request request : ask.requests()) {
          asked.accept(request);
          check.accept(request);
          replies.add(dc.answer(request));
        }
        between.run();
        plan = ask.then().apply(replies);
      }
      return ((Plan.Answer) plan).value();
    } catch (RedisException | OsierException e) {
      return RedisErrors.of(e);
    }
  }

  /** Whether a request may change something. */
  static boolean changes(Request request) {
    return request instanceof Request.Write
        || (request instanceof Request.Evaluate program && program.isUpdate());
  }

  Scope scope() {
    return new Scope(
        new Database("k", Partitioning.byKey(partitions)),
        cluster.millis() + aheadMillis,
        ++seed,
        false,
        new Table());
  }

  private final class Table implements Cursors {
    @Override
    public long put(byte[] place) {
      places.add(place);
      return places.size();
    }

    @Override
    public Optional<byte[]> get(long cursor) {
      return cursor < 1 || cursor > places.size()
          ? Optional.empty()
          : Optional.of(places.get((int) cursor - 1));
    }
  }
}
