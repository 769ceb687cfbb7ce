package io.osier.bench.architecture;

import java.util.List;
import java.util.stream.Stream;

/** The table of production's rooms: which may use which other rooms and which libraries. */
final class Rooms {
  private static final String KRYO = "com.esotericsoftware.kryo";
  private static final String NETTY = "io.netty";
  private static final String LOGGING = "org.slf4j";
  private static final String HISTOGRAM = "org.HdrHistogram";
  private static final String CAFFEINE = "com.github.benmanes.caffeine";
  private static final String SCRAM = "com.ongres.scram.common";

  private Rooms() {}

  /** Production's rooms, each after those that it uses, as docs/ARCHITECTURE.md tells them. */
  static House production() {
    House r = new House();
    r.pure("core", List.of(), KRYO);
    r.pure("core.time", List.of("core"));
    r.shell("core.net", List.of("core"), KRYO, NETTY, "jdk.net");
    r.shell("core.tls", List.of("core"), NETTY);
    r.pure("core.scram", List.of("core"), SCRAM);
    r.pure("crdt", List.of("core"));
    r.pure("protocol", List.of("core", "crdt"), KRYO);
    r.pure("propagation.wire", List.of("core", "crdt"), KRYO);
    r.pure("propagation.host", List.of("core", "crdt", "propagation.wire"), HISTOGRAM);
    r.pure("propagation.pull", List.of("core", "crdt", "propagation.wire"));
    r.pure("propagation.send", replication());
    r.pure("propagation.receive", replication("propagation.pull"));
    r.pure("propagation.repair", replication("propagation.pull", "propagation.receive"));
    r.pure(
        "propagation",
        replication(
            "propagation.send", "propagation.pull", "propagation.receive", "propagation.repair"));
    r.shell(
        "propagation.net",
        List.of(
            "core",
            "core.time",
            "core.net",
            "core.tls",
            "crdt",
            "propagation.wire",
            "propagation.host"),
        NETTY,
        LOGGING,
        KRYO);
    r.pure("adaptation", List.of("core"));
    r.shell("proxy.values", List.of("core"), KRYO, "com.fasterxml.jackson");
    List<String> client =
        List.of(
            "core",
            "core.time",
            "core.net",
            "core.scram",
            "core.tls",
            "crdt",
            "protocol",
            "proxy.values");
    r.client("proxy.connection", client, SCRAM, "com.ongres.scram.client", NETTY, LOGGING, KRYO);
    List<String> future = and(client, "proxy.connection");
    r.client("proxy.future", future);
    List<String> cache = and(future, "proxy.future");
    r.client("proxy.cache", cache, CAFFEINE, LOGGING);
    r.client("proxy.client", and(cache, "proxy.cache"), NETTY, LOGGING);
    r.client("proxy.session", and(cache, "proxy.cache", "proxy.client"), CAFFEINE);
    r.client("proxy.objects", and(client, "proxy.future"));
    List<String> call = and(cache, "proxy.cache", "proxy.client", "proxy.session", "proxy.objects");
    r.client("proxy.call", call);
    r.client("proxy.transaction", and(call, "proxy.call"));
    r.client("proxy.watch", and(call, "proxy.call"), LOGGING);
    r.client("proxy.admin", List.of("core"), "com.fasterxml.jackson.core");
    r.shell("proxy", and(call, "proxy.call", "proxy.transaction", "proxy.watch", "proxy.admin"));
    r.shell("proxy.observe", List.of("core", "proxy"), "io.micrometer");
    r.shell(
        "datacenter.store",
        List.of("core", "crdt", "protocol", "propagation.wire", "propagation.host"),
        "org.rocksdb",
        LOGGING);
    r.pure(
        "datacenter.partition",
        List.of(
            "core",
            "core.time",
            "crdt",
            "protocol",
            "propagation",
            "propagation.wire",
            "propagation.host",
            "propagation.send",
            "adaptation",
            "datacenter.store"),
        HISTOGRAM,
        LOGGING);
    r.pure("datacenter.access", List.of("core", "core.scram", "crdt", "protocol"), SCRAM);
    r.shell("datacenter.placement", List.of("core", "crdt", "protocol", "adaptation"));
    r.shell(
        "datacenter.config",
        List.of(
            "datacenter.placement",
            "core",
            "core.net",
            "core.scram",
            "core.tls",
            "adaptation",
            "propagation.host",
            "propagation.net",
            "datacenter.access",
            "datacenter.store"),
        "com.typesafe.config");
    r.pure(
        "datacenter.metrics",
        List.of(
            "core", "propagation.host", "adaptation", "datacenter.store", "datacenter.partition"),
        HISTOGRAM);
    r.shell(
        "datacenter.feed",
        List.of(
            "core",
            "crdt",
            "protocol",
            "propagation.host",
            "datacenter.store",
            "datacenter.partition",
            "datacenter.metrics"),
        LOGGING);
    r.shell(
        "datacenter.trace",
        List.of(
            "core",
            "core.net",
            "crdt",
            "protocol",
            "propagation.wire",
            "propagation.host",
            "datacenter.metrics",
            "datacenter.config"),
        "io.opentelemetry",
        LOGGING);
    r.shell(
        "datacenter.control",
        List.of(
            "core",
            "core.time",
            "core.net",
            "crdt",
            "protocol",
            "adaptation",
            "datacenter.placement",
            "datacenter.config",
            "datacenter.access"),
        LOGGING);
    List<String> shell =
        List.of(
            "core",
            "core.time",
            "core.net",
            "core.scram",
            "core.tls",
            "crdt",
            "protocol",
            "propagation",
            "propagation.wire",
            "propagation.host",
            "propagation.net",
            "adaptation",
            "datacenter.store",
            "datacenter.partition",
            "datacenter.feed",
            "datacenter.metrics",
            "datacenter.placement",
            "datacenter.config",
            "datacenter.access",
            "datacenter.trace",
            "datacenter.control");
    r.shell("datacenter.shard", shell, NETTY, LOGGING, HISTOGRAM, KRYO);
    r.shell("datacenter.metrics.report", and(shell, "datacenter.shard"), LOGGING, HISTOGRAM);
    r.shell(
        "datacenter.control.execution",
        and(shell, "datacenter.shard", "datacenter.metrics.report"),
        LOGGING);
    r.shell(
        "datacenter.forward",
        List.of(
            "core",
            "core.net",
            "crdt",
            "protocol",
            "propagation.host",
            "datacenter.feed",
            "datacenter.metrics"));
    r.shell(
        "datacenter.copies",
        List.of(
            "core",
            "core.net",
            "crdt",
            "protocol",
            "adaptation",
            "datacenter.store",
            "datacenter.partition",
            "datacenter.config",
            "datacenter.feed",
            "datacenter.metrics",
            "datacenter.forward"),
        LOGGING);
    r.shell(
        "datacenter.frontend",
        and(
            shell,
            "datacenter.shard",
            "datacenter.metrics.report",
            "datacenter.forward",
            "datacenter.copies"),
        NETTY,
        LOGGING,
        HISTOGRAM,
        KRYO);
    r.pure("datacenter.words", List.of("core", "crdt", "protocol", "datacenter.config"));
    r.pure("datacenter.redis", List.of("core"));
    r.pure(
        "datacenter.redis.command",
        List.of("core", "crdt", "protocol", "datacenter.words", "datacenter.redis"));
    r.pure(
        "datacenter.redis.command.data",
        List.of(
            "core",
            "crdt",
            "protocol",
            "datacenter.words",
            "datacenter.redis",
            "datacenter.redis.command"));
    r.pure(
        "datacenter.redis.transaction",
        List.of(
            "core",
            "core.net",
            "crdt",
            "protocol",
            "datacenter.redis",
            "datacenter.redis.command"));
    r.shell(
        "datacenter.redis.pubsub",
        List.of(
            "core",
            "core.net",
            "crdt",
            "protocol",
            "datacenter.redis",
            "datacenter.redis.command"));
    r.shell("datacenter.redis.cursor", List.of("datacenter.redis.command"));
    r.shell(
        "datacenter.redis.tracking",
        List.of("core", "datacenter.feed", "datacenter.redis", "datacenter.redis.command"));
    r.shell(
        "datacenter.redis.server",
        List.of(
            "core",
            "core.net",
            "core.scram",
            "core.tls",
            "crdt",
            "protocol",
            "propagation.net",
            "datacenter.access",
            "datacenter.frontend",
            "datacenter.words",
            "datacenter.redis",
            "datacenter.redis.command",
            "datacenter.redis.command.data",
            "datacenter.redis.transaction",
            "datacenter.redis.cursor",
            "datacenter.redis.tracking",
            "datacenter.redis.pubsub"),
        NETTY,
        LOGGING);
    r.shell(
        "datacenter.admin",
        and(shell, "datacenter.metrics.report", "datacenter.frontend"),
        NETTY,
        LOGGING,
        HISTOGRAM,
        "io.micrometer",
        "io.prometheus.metrics.model");
    r.shell(
        "datacenter.server",
        and(
            shell,
            "datacenter.shard",
            "datacenter.metrics.report",
            "datacenter.control.execution",
            "datacenter.forward",
            "datacenter.copies",
            "datacenter.frontend",
            "datacenter.redis.pubsub",
            "datacenter.redis.tracking",
            "datacenter.redis.server",
            "datacenter.admin",
            "proxy"),
        NETTY,
        LOGGING,
        HISTOGRAM,
        KRYO,
        "io.micrometer");
    r.shell(
        "datacenter.embedded",
        List.of(
            "core",
            "core.time",
            "protocol",
            "proxy",
            "proxy.values",
            "datacenter.config",
            "datacenter.server"));
    r.shell(
        "datacenter.cli",
        List.of(
            "core",
            "core.net",
            "core.scram",
            "core.tls",
            "crdt",
            "protocol",
            "proxy",
            "datacenter.store",
            "datacenter.access",
            "datacenter.config",
            "datacenter.words",
            "datacenter.server"),
        LOGGING,
        "ch.qos.logback",
        "picocli",
        "org.jline",
        "com.fasterxml.jackson",
        "com.typesafe.config");
    return r;
  }

  /** What replication's rooms share, and these. */
  private static List<String> replication(String... more) {
    return Stream.concat(
            Stream.of("core", "crdt", "propagation.wire", "propagation.host"), Stream.of(more))
        .toList();
  }

  private static List<String> and(List<String> rooms, String... more) {
    return Stream.concat(rooms.stream(), Stream.of(more)).toList();
  }
}
