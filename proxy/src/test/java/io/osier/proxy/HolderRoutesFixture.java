package io.osier.proxy;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.osier.core.Homes;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.client.ClientCore;
import io.osier.proxy.client.ClientSettings;
import io.osier.proxy.connection.Datacenters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Keyspaces that the nearest datacenter does not hold: {@code k} is everywhere, {@code carts} at eu
 * and us, and the client's nearest is ap.
 */
abstract class HolderRoutesFixture {
  static final Reply.KeyspaceInfo K = new Reply.KeyspaceInfo("k", 1_000, 1, false);
  static final Reply.KeyspaceInfo CARTS = new Reply.KeyspaceInfo("carts", 500, 1, false);
  static final Reply.KeyspaceInfo BY_TAG =
      new Reply.KeyspaceInfo("carts", 500, new Partitioning(4, Partitioning.Hash.TAG), false);

  /** A keyspace with a home ap, and that home. */
  static final Reply.KeyspaceInfo WITH_HOME = homed("carts", "ap");

  static final Reply.KeyspaceInfo HOME = homed("carts@ap", "ap");
  static final Map<String, String> ADDRESSES =
      Map.of("eu", "eu.example:7400", "us", "us.example:7400");

  final Steps steps = new Steps();
  final Far ap = new Far("ap", 1);
  final Far eu = new Far("eu", 40);
  final Far us = new Far("us", 80);

  /** What was dialled besides the endpoints. */
  final List<String> dialled = new ArrayList<>();

  /** Says that a datacenter has come or gone. */
  Runnable changed = () -> {};

  Runnable measure = () -> {};

  static Reply.KeyspaceInfo homed(String keyspace, String... homes) {
    Homes all = new Homes(List.of(homes));
    return new Reply.KeyspaceInfo(
        keyspace, 500, new Partitioning(1, Partitioning.Hash.KEY, all), false);
  }

  static Reply.Elsewhere elsewhere(Map<String, String> addresses, String... holders) {
    return new Reply.Elsewhere(
        List.of(new Reply.HeldElsewhere(CARTS, List.of(holders))), addresses);
  }

  OsierClient client(Far... endpoints) {
    ap.elsewhere = elsewhere(ADDRESSES, "eu", "us");
    eu.keyspaces = List.of(K, CARTS);
    us.keyspaces = List.of(K, CARTS);
    OsierClient.Builder builder = OsierClient.builder().timeout(Duration.ofSeconds(1));
    List.of(endpoints).forEach(e -> builder.endpoint(e.dc(), e.dc() + ":1"));
    ClientSettings settings = builder.settings();
    Datacenters datacenters = new Datacenters(settings.endpoints(), settings.preferred());
    List.of(endpoints).forEach(datacenters::add);
    datacenters
        .holders()
        .setDialler(
            (dc, at) -> {
              dialled.add(dc + " at " + at);
              return dc.equals("eu") ? eu : dc.equals("us") ? us : ap;
            });
    changed = datacenters::changed;
    measure = datacenters::measure;
    changed.run();
    return new OsierClient(new ClientCore(settings, steps, datacenters, () -> {}));
  }

  void goes(Far down) {
    down.up = false;
    changed.run();
  }

  void comes(Far up) {
    up.up = true;
    changed.run();
  }

  static CompletableFuture<Void> increment(Session session, String keyspace) {
    return session.keyspace(keyspace).counter("c").incrementAsync(1);
  }

  static CompletableFuture<Long> get(Session session, String keyspace) {
    return session.keyspace(keyspace).counter("c").getAsync();
  }

  static VersionVector after(Far at) {
    return ((Request.Read) requireNonNull(at.open.peek()).request()).after();
  }

  static OsierException errorOf(CompletableFuture<?> call) {
    assertThat(call).isDone();
    return (OsierException) requireNonNull(catchThrowable(call::join).getCause());
  }
}
