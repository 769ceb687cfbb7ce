package io.osier.bench.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.osier.core.Value;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Scan;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A store in which objects expire while others are used. */
interface ExpiringSide {
  /** Of what expires, in bytes. */
  int VALUE_BYTES = 20;

  /**
   * Objects.
   *
   * @param all which the store keeps something of
   * @param removed of these those that only remember that they were removed
   */
  record Held(long all, long removed) {}

  String name();

  /** Makes an object. */
  CompletionStage<?> put(String key);

  /** Gives an object a deadline, in milliseconds since 1970; answers whether it exists. */
  CompletionStage<Boolean> expireAt(String key, long millis);

  /** Uses one that does not expire: half of the calls read it, half change it. */
  CompletionStage<?> use(String key, boolean reads);

  /** How many objects there are, as the store itself says. */
  Held held();

  /** Whether a client is shown that a key exists. */
  CompletionStage<Boolean> shows(String key);

  /** How many keys with a prefix a client is shown. */
  long visible(String prefix);

  /** The processor time that the store has taken so far. */
  Duration cpu();

  /**
   * A datacenter.
   *
   * @param asking asks for its figures, by a connection of its own
   */
  record Osier(OsierProcess server, OsierClient asking, Keyspace keyspace, Value value)
      implements ExpiringSide {
    private static final ObjectMapper JSON = new ObjectMapper();

    Osier(OsierProcess server, OsierClient asking, Keyspace keyspace) {
      this(server, asking, keyspace, Value.of(new byte[VALUE_BYTES]));
    }

    @Override
    public String name() {
      return "osier";
    }

    @Override
    public CompletionStage<?> put(String key) {
      return keyspace.register(key).assignAsync(value);
    }

    @Override
    public CompletionStage<Boolean> expireAt(String key, long millis) {
      return keyspace.expireAtAsync(key, Instant.ofEpochMilli(millis));
    }

    @Override
    public CompletionStage<?> use(String key, boolean reads) {
      return reads ? keyspace.counter(key).getAsync() : keyspace.counter(key).incrementAsync(1);
    }

    @Override
    public Held held() {
      try {
        JsonNode stat =
            JSON.readTree(
                    asking
                        .inspectAsync(OsierProcess.DC, Request.Topic.STAT, Optional.empty(), 0)
                        .join())
                .get("keyspaces")
                .get(keyspace.name());
        return new Held(stat.get("objects").asLong(), stat.get("removed_objects").asLong());
      } catch (JsonProcessingException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public CompletionStage<Boolean> shows(String key) {
      return keyspace.existsAsync(key);
    }

    @Override
    public long visible(String prefix) {
      return keyspace.count(Scan.prefix(prefix));
    }

    @Override
    public Duration cpu() {
      return OsierProcess.cpu(server.process());
    }
  }

  /** A redis-server. */
  record Redis(RedisProcess server, RedisAsyncCommands<String, byte[]> commands, byte[] value)
      implements ExpiringSide {
    Redis(RedisProcess server) {
      this(server, server.connection().async(), new byte[VALUE_BYTES]);
    }

    @Override
    public String name() {
      return "redis";
    }

    @Override
    public CompletionStage<?> put(String key) {
      return commands.set(key, value);
    }

    @Override
    public CompletionStage<Boolean> expireAt(String key, long millis) {
      return commands.pexpireat(key, millis);
    }

    @Override
    public CompletionStage<?> use(String key, boolean reads) {
      return reads ? commands.get(key) : commands.incr(key);
    }

    @Override
    public Held held() {
      return new Held(server.connection().sync().dbsize(), 0);
    }

    @Override
    public CompletionStage<Boolean> shows(String key) {
      return commands.exists(key).thenApply(n -> n > 0);
    }

    /** {@inheritDoc} A scan of Redis leaves out what has expired. */
    @Override
    public long visible(String prefix) {
      return server.connection().sync().keys(prefix + "*").size();
    }

    @Override
    public Duration cpu() {
      return OsierProcess.cpu(server.process());
    }

    @Override
    public boolean equals(Object o) {
      return o instanceof Redis other
          && server.equals(other.server)
          && Arrays.equals(value, other.value);
    }

    @Override
    public int hashCode() {
      return server.hashCode();
    }
  }
}
