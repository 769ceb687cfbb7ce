package io.osier.bench.architecture;

/** The table of production's rooms: which may use which other rooms and which libraries. */
final class Rooms {
  /**
   * A room on each line, after those that it uses: {@code KIND NAME: ROOMS | LIBRARIES}. The kinds
   * are those of {@link House}; {@code set NAME} names rooms that several others use, as
   * {@code @NAME}. An indented line continues the one before it.
   */
  private static final String PRODUCTION =
      """
      pure core: | com.esotericsoftware.kryo
      pure core.time: core
      shell core.net: core | com.esotericsoftware.kryo io.netty jdk.net
      shell core.tls: core | io.netty
      pure core.scram: core | com.ongres.scram.common
      pure crdt: core
      pure protocol: core crdt | com.esotericsoftware.kryo

      pure propagation.wire: core crdt | com.esotericsoftware.kryo
      pure propagation.host: core crdt propagation.wire | org.HdrHistogram
      pure propagation.pull: core crdt propagation.wire
      set replication: core crdt propagation.wire propagation.host
      pure propagation.send: @replication
      pure propagation.receive: @replication propagation.pull
      pure propagation.repair: @replication propagation.pull propagation.receive
      pure propagation: @replication propagation.send propagation.pull propagation.receive
        propagation.repair
      shell propagation.net: core core.time core.net core.tls crdt propagation.wire propagation.host
        | io.netty org.slf4j com.esotericsoftware.kryo
      pure adaptation: core

      shell proxy.values: core | com.esotericsoftware.kryo com.fasterxml.jackson
      set client: core core.time core.net core.scram core.tls crdt protocol proxy.values
      client proxy.connection: @client
        | com.ongres.scram.common com.ongres.scram.client io.netty org.slf4j
        com.esotericsoftware.kryo
      client proxy.future: @client proxy.connection
      set cache: @client proxy.connection proxy.future
      client proxy.cache: @cache | com.github.benmanes.caffeine org.slf4j
      client proxy.client: @cache proxy.cache | io.netty org.slf4j
      client proxy.session: @cache proxy.cache proxy.client | com.github.benmanes.caffeine
      client proxy.objects: @client proxy.future
      set call: @cache proxy.cache proxy.client proxy.session proxy.objects
      client proxy.call: @call
      client proxy.transaction: @call proxy.call
      client proxy.watch: @call proxy.call | org.slf4j
      client proxy.admin: core | com.fasterxml.jackson.core
      shell proxy: @call proxy.call proxy.transaction proxy.watch proxy.admin
      shell proxy.observe: core proxy | io.micrometer

      shell datacenter.store: core crdt protocol propagation.wire propagation.host
        | org.rocksdb org.slf4j
      pure datacenter.partition: core core.time crdt protocol propagation propagation.wire
        propagation.host propagation.send adaptation datacenter.store | org.HdrHistogram org.slf4j
      pure datacenter.access: core core.scram crdt protocol | com.ongres.scram.common
      shell datacenter.placement: core crdt protocol adaptation
      shell datacenter.config: core core.net core.scram core.tls adaptation propagation.host
        propagation.net datacenter.placement datacenter.access datacenter.store
        | com.typesafe.config
      pure datacenter.metrics: core propagation.host adaptation datacenter.store
        datacenter.partition | org.HdrHistogram
      shell datacenter.feed: core crdt protocol propagation.host datacenter.store
        datacenter.partition datacenter.metrics | org.slf4j
      shell datacenter.trace: core core.net crdt protocol propagation.wire propagation.host
        datacenter.metrics datacenter.config | io.opentelemetry org.slf4j
      shell datacenter.control: core core.time core.net crdt protocol adaptation
        datacenter.placement datacenter.config datacenter.access | org.slf4j

      set shell: core core.time core.net core.scram core.tls crdt protocol propagation
        propagation.wire propagation.host propagation.net adaptation datacenter.store
        datacenter.partition datacenter.feed datacenter.metrics datacenter.placement
        datacenter.config datacenter.access datacenter.trace datacenter.control
      shell datacenter.shard: @shell | io.netty org.slf4j org.HdrHistogram com.esotericsoftware.kryo
      shell datacenter.metrics.report: @shell datacenter.shard | org.slf4j org.HdrHistogram
      shell datacenter.control.execution: @shell datacenter.shard datacenter.metrics.report
        | org.slf4j
      shell datacenter.forward: core core.net crdt protocol propagation.host datacenter.feed
        datacenter.metrics
      shell datacenter.copies: core core.net crdt protocol adaptation datacenter.store
        datacenter.partition datacenter.config datacenter.feed datacenter.metrics
        datacenter.forward | org.slf4j
      shell datacenter.frontend: @shell datacenter.shard datacenter.metrics.report
        datacenter.forward datacenter.copies
        | io.netty org.slf4j org.HdrHistogram com.esotericsoftware.kryo
      pure datacenter.words: core crdt protocol datacenter.config

      pure datacenter.redis: core
      pure datacenter.redis.command: core crdt protocol datacenter.words datacenter.redis
      pure datacenter.redis.command.data: core crdt protocol datacenter.words datacenter.redis
        datacenter.redis.command
      pure datacenter.redis.transaction: core core.net crdt protocol datacenter.redis
        datacenter.redis.command
      shell datacenter.redis.pubsub: core core.net crdt protocol datacenter.redis
        datacenter.redis.command
      shell datacenter.redis.cursor: datacenter.redis.command
      shell datacenter.redis.tracking: core datacenter.feed datacenter.redis
        datacenter.redis.command
      shell datacenter.redis.server: core core.net core.scram core.tls crdt protocol propagation.net
        datacenter.access datacenter.frontend datacenter.words datacenter.redis
        datacenter.redis.command datacenter.redis.command.data datacenter.redis.transaction
        datacenter.redis.cursor datacenter.redis.tracking datacenter.redis.pubsub
        | io.netty org.slf4j

      shell datacenter.admin: @shell datacenter.metrics.report datacenter.frontend
        | io.netty org.slf4j org.HdrHistogram io.micrometer io.prometheus.metrics.model
      shell datacenter.server: @shell datacenter.shard datacenter.metrics.report
        datacenter.control.execution datacenter.forward datacenter.copies datacenter.frontend
        datacenter.redis.pubsub datacenter.redis.tracking datacenter.redis.server datacenter.admin
        proxy | io.netty org.slf4j org.HdrHistogram com.esotericsoftware.kryo io.micrometer
      shell datacenter.embedded: core core.time protocol proxy proxy.values datacenter.config
        datacenter.server
      shell datacenter.cli: core core.net core.scram core.tls crdt protocol proxy datacenter.store
        datacenter.access datacenter.config datacenter.words datacenter.server
        | org.slf4j ch.qos.logback picocli org.jline com.fasterxml.jackson com.typesafe.config
      """;

  private Rooms() {}

  /** Production's rooms, as docs/ARCHITECTURE.md tells them. */
  static House production() {
    return new House(PRODUCTION);
  }
}
