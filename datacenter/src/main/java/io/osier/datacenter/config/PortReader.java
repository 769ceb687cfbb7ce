package io.osier.datacenter.config;

import io.osier.core.Homes;
import io.osier.core.KeyspacePolicy;
import io.osier.core.net.HostPort;
import io.osier.core.net.ListenAddress;
import io.osier.core.tls.TlsContext;
import io.osier.core.tls.TlsFiles;
import io.osier.propagation.net.link.PortLimits;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Reads the settings of a datacenter's ports: their numbers, limits, the admin port, TLS.
 * Immutable.
 */
final class PortReader {
  private static final Pattern HOST_NAME =
      Pattern.compile("[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?(\\.[A-Za-z0-9_-]+)*");

  private static final String REDIS_PORT = "osier.listen.redis-port";

  private static final String ADMIN_NAMES =
      "a list of names, for example [eu.example], without ports";

  static final String REDIS_DATABASES = "osier.redis.databases";

  private final ConfigValues values;
  private final MemoryPlan memory;

  PortReader(ConfigValues values, MemoryPlan memory) {
    this.values = values;
    this.memory = memory;
  }

  /** Checks that the ports differ; 0 is any free one. */
  void checkPorts() {
    List<String> keys =
        new ArrayList<>(List.of("osier.listen.client-port", "osier.listen.peer-port"));
    if (values.config().getBoolean("osier.admin.enabled")) {
      keys.add("osier.admin.port");
    }
    if (!values.isOff(REDIS_PORT)) {
      keys.add(REDIS_PORT);
    }
    for (int i = 1; i < keys.size(); i++) {
      for (int k = 0; k < i; k++) {
        int port = values.integer(keys.get(i), 0, 65_535);
        if (port != 0 && port == values.integer(keys.get(k), 0, 65_535)) {
          throw values.bad(keys.get(i), "another port than " + keys.get(k));
        }
      }
    }
  }

  /**
   * Reads the address at which others reach the port for clients; its port is 0 for the one that is
   * bound.
   */
  HostPort announced(String dc) {
    String key = "osier.listen.announce";
    if (!values.isAuto(key)) {
      String allowed = "host or host:port, for example eu.example or eu.example:7410";
      return values.value(
          key,
          allowed,
          () -> {
            String text = values.config().getString(key);
            return HostPort.parse(text)
                .or(() -> HostPort.host(text).map(host -> new HostPort(host, 0)))
                .orElseThrow(() -> new IllegalArgumentException(allowed));
          });
    }
    String host = values.host("osier.listen.host");
    String own = SettingNames.PEERS + "." + dc;
    List<String> names = values.listOrText("osier.admin.names", ADMIN_NAMES);
    boolean isAnywhere = host.equals("0.0.0.0") || host.equals("::");
    if (isAnywhere && values.has(own)) {
      host = values.address(own).getHostString();
    } else if (isAnywhere) {
      host = names.isEmpty() ? ListenAddress.machine() : names.getFirst();
    }
    return new HostPort(host, 0);
  }

  /**
   * Reads how many connections a port takes; if nothing is set, as many as the heap has room for.
   */
  int connections(String key) {
    return values.isAuto(key) ? memory.connections() : values.integer(key, 1, 1_000_000);
  }

  /**
   * Reads the limits of each user.
   *
   * @param allConnections the limit for all together
   * @param queue how many requests a partition's queue takes
   */
  UserLimits userLimits(int allConnections, int queue) {
    String at = "osier.user-limits.";
    return new UserLimits(
        userLimit(at + "connections", 1_000_000, allConnections),
        userLimit(at + "requests", 10_000_000, queue),
        values.isAuto(at + "bytes")
            ? UserLimits.Limit.partOf(memory.requestBytes())
            : UserLimits.Limit.given(values.size(at + "bytes", 64 << 10)));
  }

  private UserLimits.Limit userLimit(String key, int max, int all) {
    return values.isAuto(key)
        ? UserLimits.Limit.partOf(all)
        : UserLimits.Limit.given(values.integer(key, 1, max));
  }

  /** Reads the admin port; empty if it is off. */
  Optional<AdminSettings> admin(String dc, int greeting) {
    String at = "osier.admin.";
    boolean enabled = values.yes(at + "enabled");
    String host = values.host(values.isAuto(at + "host") ? "osier.listen.host" : at + "host");
    AdminSettings settings =
        new AdminSettings(
            host,
            values.integer(at + "port", 0, 65_535),
            new PortLimits(values.integer(at + "connections", 1, 100_000), greeting, greeting),
            names(dc, host));
    return enabled ? Optional.of(settings) : Optional.empty();
  }

  /** Reads the port for the Redis protocol; empty if it is off. */
  Optional<RedisSettings> redis() {
    Map<Integer, String> databases = new TreeMap<>();
    values
        .config()
        .getObject(REDIS_DATABASES)
        .keySet()
        .forEach(name -> databases.put(number(name), keyspace(REDIS_DATABASES + "." + name)));
    if (values.isOff(REDIS_PORT)) {
      return Optional.empty();
    }
    return Optional.of(new RedisSettings(values.integer(REDIS_PORT, 0, 65_535), databases));
  }

  private int number(String name) {
    if (!name.matches("0|[1-9][0-9]{0,3}")
        || Integer.parseInt(name) >= RedisSettings.DATABASES_MAX) {
      throw values.bad(
          REDIS_DATABASES + "." + name,
          "under a number from 0 to "
              + (RedisSettings.DATABASES_MAX - 1)
              + ", for example 0 = shop");
    }
    return Integer.parseInt(name);
  }

  private String keyspace(String key) {
    String allowed = "a keyspace's name";
    String name = values.value(key, allowed, () -> values.config().getString(key));
    String unused = values.value(key, allowed, () -> KeyspacePolicy.checkName(Homes.base(name)));
    return name;
  }

  /** Reads the names under which the admin port may be asked for. */
  private Set<String> names(String dc, String host) {
    String key = "osier.admin.names";
    Set<String> names = new TreeSet<>();
    for (String name : values.listOrText(key, ADMIN_NAMES)) {
      if (!HOST_NAME.matcher(name).matches()) {
        throw values.bad(key, ADMIN_NAMES);
      }
      names.add(name.toLowerCase(Locale.ROOT));
    }
    // Names that are configured anyway: the datacenter's own, and those at which it listens.
    names.add(dc.toLowerCase(Locale.ROOT));
    names.add(host.toLowerCase(Locale.ROOT));
    names.add(values.host("osier.listen.host").toLowerCase(Locale.ROOT));
    String own = SettingNames.PEERS + "." + dc;
    if (values.has(own)) {
      names.add(values.address(own).getHostString().toLowerCase(Locale.ROOT));
    }
    return names;
  }

  /** Reads the settings of TLS; empty if there is no certificate. */
  Optional<TlsSettings> tls(boolean hasPeers) {
    String at = "osier.tls.";
    Optional<Path> certificate = values.file(at + "certificate");
    Optional<Path> key = values.file(at + "key");
    Optional<Path> authorities = values.file(at + "authorities");
    TlsSettings.Certificates clientCertificates =
        values.choice(at + "client-certificates", TlsSettings.Certificates.class);
    boolean asksClients = clientCertificates != TlsSettings.Certificates.FALSE;
    TlsContext.Provider provider = values.choice(at + "provider", TlsContext.Provider.class);
    if (certificate.isEmpty()) {
      if (key.isPresent() || authorities.isPresent() || asksClients) {
        throw values.bad(
            at + "certificate", "a file in PEM form, as other settings of osier.tls are given");
      }
      return Optional.empty();
    }
    if (key.isEmpty()) {
      throw values.bad(at + "key", "a file in PEM form: the private key of osier.tls.certificate");
    }
    if (authorities.isEmpty() && (hasPeers || asksClients)) {
      throw values.bad(
          at + "authorities",
          "a file in PEM form: the certificates of those who sign "
              + (hasPeers ? "the other datacenters'" : "the clients'"));
    }
    return Optional.of(
        new TlsSettings(
            new TlsFiles(Optional.of(new TlsFiles.Own(certificate.get(), key.get())), authorities),
            clientCertificates,
            values.yes(at + "admin"),
            values.yes(at + "required"),
            provider));
  }
}
