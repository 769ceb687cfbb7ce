package io.osier.datacenter.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigList;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValueFactory;
import io.osier.adaptation.AdaptationSettings;
import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.HostPort;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.TraceSample;
import io.osier.core.codec.Codec;
import io.osier.core.scram.ScramCredential;
import io.osier.core.tls.TlsContext;
import io.osier.core.tls.TlsFiles;
import io.osier.datacenter.security.User;
import io.osier.datacenter.security.Users;
import io.osier.datacenter.store.StoreSettings;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.transport.PortLimits;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Reads a datacenter's configuration: the reference, the datacenter's file, the environment. Every
 * error is an {@link OsierException} CONFIGURATION that names the file, the key, the value and what
 * is allowed.
 */
public final class ConfigReader {
  static final String PEERS = "osier.peers";
  static final String KEYSPACES = "osier.keyspaces";
  static final String USERS = "osier.users";
  static final String DEFAULTS = "osier.keyspace-defaults";
  private static final Pattern UNITLESS = Pattern.compile("[0-9.]+");
  private static final String AUTO = "auto";

  private static final Pattern HOST_NAME =
      Pattern.compile("[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?(\\.[A-Za-z0-9_-]+)*");

  private final String source;
  private final Config config;
  private final MemoryPlan memory;

  private ConfigReader(String source, Config config, MemoryPlan memory) {
    this.source = source;
    this.config = config;
    this.memory = memory;
  }

  /**
   * Reads a file.
   *
   * @param environment the environment variables
   */
  public static DatacenterConfig read(File file, Map<String, String> environment) {
    if (!file.isFile()) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, "there is no configuration file " + file.getPath());
    }
    return read(
        file.getPath(),
        () -> {
          Config config =
              ConfigFactory.parseFile(file, ConfigParseOptions.defaults().setAllowMissing(false));
          NamesGivenTwice.check(file.getPath(), textOf(file));
          return config;
        },
        environment,
        MemoryPlan.ofThisProcess());
  }

  /**
   * Reads a text.
   *
   * @param source what errors call it
   */
  public static DatacenterConfig read(String source, String text, Map<String, String> environment) {
    return read(source, text, environment, MemoryPlan.ofThisProcess());
  }

  /** As the other one, for a heap of another size than this process's. */
  static DatacenterConfig read(
      String source, String text, Map<String, String> environment, MemoryPlan memory) {
    return read(
        source,
        () -> {
          Config config = ConfigFactory.parseString(text);
          NamesGivenTwice.check(source, text);
          return config;
        },
        environment,
        memory);
  }

  private static String textOf(File file) {
    if (file.getName().endsWith(".properties")) {
      return ""; // has no blocks
    }
    try {
      return Files.readString(file.toPath());
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, file.getPath() + ": cannot be read: " + e.getMessage(), e);
    }
  }

  private static DatacenterConfig read(
      String source, Supplier<Config> parser, Map<String, String> environment, MemoryPlan memory) {
    Config reference = ConfigFactory.parseResources(ConfigReader.class, "/osier-reference.conf");
    try {
      Config own = parser.get();
      KnownKeys known = new KnownKeys(reference);
      known.check(source, own);
      Config merged = known.of(environment).withFallback(own).withFallback(reference);
      DatacenterConfig config = new ConfigReader(source, merged.resolve(), memory).datacenter();
      ProtectedMode.check(source, config);
      memory.check(source, config);
      return config;
    } catch (ConfigException e) {
      throw new OsierException(ErrorCode.CONFIGURATION, source + ": " + e.getMessage(), e);
    }
  }

  // ---------------------------------------------------------------- values

  private OsierException bad(String key, String allowed) {
    String value = config.hasPath(key) ? config.getValue(key).unwrapped().toString() : "nothing";
    return new OsierException(
        ErrorCode.CONFIGURATION,
        source + ": " + key + " must be " + allowed + ", not '" + value + "'");
  }

  private interface Reader<T> {
    T read();
  }

  private <T> T value(String key, String allowed, Reader<T> reader) {
    try {
      return reader.read();
    } catch (ConfigException | IllegalArgumentException e) {
      throw bad(key, allowed);
    }
  }

  private int integer(String key, int min, int max) {
    String allowed = "a whole number from " + min + " to " + max;
    int value = value(key, allowed, () -> config.getInt(key));
    if (value < min || value > max) {
      throw bad(key, allowed);
    }
    return value;
  }

  private Duration duration(String key, Duration min, Duration max) {
    String allowed =
        "a duration with its unit, from "
            + min.toMillis()
            + "ms to "
            + max.toMillis()
            + "ms, for example 2s";
    Duration value = value(key, allowed, () -> config.getDuration(key));
    if (!value.isZero() && UNITLESS.matcher(config.getString(key).strip()).matches()) {
      throw bad(key, allowed); // it would be taken for milliseconds
    }
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw bad(key, allowed);
    }
    return value;
  }

  private int millis(String key, int min) {
    return (int) duration(key, Duration.ofMillis(min), Duration.ofHours(1)).toMillis();
  }

  private int bytes(String key, int min, int max) {
    String allowed = "a size from " + min + "B to " + max + "B, for example 64KiB";
    long value = value(key, allowed, () -> config.getBytes(key));
    if (value < min || value > max) {
      throw bad(key, allowed);
    }
    return (int) value;
  }

  private <E extends Enum<E>> E choice(String key, Class<E> type) {
    List<String> allowed =
        Arrays.stream(type.getEnumConstants()).map(e -> e.name().toLowerCase(Locale.ROOT)).toList();
    String text = "one of " + String.join(", ", allowed);
    String value = value(key, text, () -> config.getString(key));
    if (!allowed.contains(value)) {
      throw bad(key, text);
    }
    return Enum.valueOf(type, value.toUpperCase(Locale.ROOT));
  }

  // ---------------------------------------------------------------- parts

  private DatacenterConfig datacenter() {
    String dc =
        value(
            "osier.dc",
            "this datacenter's name: 1 to 16 of A-Z a-z 0-9 _ -, a letter first",
            () -> ReplicaId.checkDcName(config.getString("osier.dc")));
    Map<String, InetSocketAddress> peers = peers(dc);
    checkPorts();
    int greeting = millis("osier.listen.greeting-timeout", 100);
    int frame = millis("osier.listen.frame-timeout", 100);
    int connections = connections("osier.listen.client-connections");
    int queue = integer("osier.queue", 1, 1 << 20);
    return new DatacenterConfig(
        dc,
        value("osier.cluster", "a name", () -> config.getString("osier.cluster")),
        value(
            "osier.incarnation-min",
            "a whole number",
            () -> config.getLong("osier.incarnation-min")),
        value("osier.listen.host", "an address", () -> config.getString("osier.listen.host")),
        integer("osier.listen.client-port", 0, 65_535),
        integer("osier.listen.peer-port", 0, 65_535),
        new PortLimits(connections, greeting, frame),
        userLimits(connections, queue),
        new PortLimits(integer("osier.listen.peer-connections", 1, 100_000), greeting, frame),
        admin(dc, greeting),
        peers,
        keyspaces(dc, peers),
        new StreamSettings(
            bytes("osier.streams.window", 64 << 10, 1 << 30),
            bytes("osier.streams.frame", 1 << 10, 16 << 20),
            millis("osier.streams.retry", 10),
            millis("osier.streams.status", 10),
            millis("osier.streams.heal", 0),
            millis("osier.streams.forget", 0)),
        adaptation(),
        store(dc),
        memory(),
        queue,
        duration("osier.shutdown-timeout", Duration.ZERO, Duration.ofHours(1)),
        duration("osier.slow-requests", Duration.ZERO, Duration.ofHours(1)),
        trace(),
        tls(!peers.isEmpty()),
        users(),
        yes("osier.insecure"),
        file("osier.audit.file"));
  }

  private List<UserSettings> users() {
    List<UserSettings> users = new ArrayList<>();
    ConfigObject all = config.getObject(USERS);
    for (String name : new TreeSet<>(all.keySet())) {
      boolean plain = name.matches("[A-Za-z0-9_-]+");
      String at = USERS + "." + (plain ? name : ConfigUtil.quoteString(name));
      if (!User.isName(name) || !(all.get(name) instanceof ConfigObject)) {
        // What stands there may be a secret, and is not shown.
        throw new OsierException(
            ErrorCode.CONFIGURATION,
            source
                + ": "
                + at
                + " must be a user: its name 1 to 64 of A-Z a-z 0-9 . _ @ -, a letter or digit"
                + " first, and a block of settings, for example { rights = [\"read shop\"] }");
      }
      users.add(user(name, at));
    }
    if (users.size() > Users.MAX) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, source + ": osier.users: at most " + Users.MAX + " users fit");
    }
    return users;
  }

  private UserSettings user(String name, String at) {
    String file = at + ".password-file";
    String credential = at + ".credential";
    String rights = at + ".rights";
    List<Grant> grants = new ArrayList<>();
    if (config.hasPath(rights)) {
      for (String text :
          value(
              rights,
              "a list of rights, for example [\"read shop\"]",
              () -> strings(config.getList(rights)))) {
        try {
          grants.add(Grant.parse(text));
        } catch (OsierException e) {
          throw new OsierException(
              ErrorCode.CONFIGURATION, source + ": " + rights + ": " + e.getMessage());
        }
      }
    }
    try {
      UserSettings user =
          new UserSettings(
              name,
              config.hasPath(file) ? file(file) : Optional.empty(),
              config.hasPath(credential)
                  ? Optional.of(
                      ScramCredential.parse(
                          String.valueOf(config.getValue(credential).unwrapped())))
                  : Optional.empty(),
              grants);
      boolean hasPassword = user.passwordFile().isPresent() || user.credential().isPresent();
      if (hasPassword && name.equals(Users.DEFAULT)) {
        throw new OsierException(
            ErrorCode.CONFIGURATION,
            "default is who does not log in, and so has no password: rights alone");
      }
      if (user.passwordFile().isPresent() && user.credential().isPresent()) {
        throw new OsierException(
            ErrorCode.CONFIGURATION, "either password-file or credential, not both");
      }
      new User(name, user.credential(), grants); // checked there
      return user;
    } catch (OsierException e) {
      // The value may be a secret that stands in the wrong place: it is not shown.
      throw new OsierException(ErrorCode.CONFIGURATION, source + ": " + at + ": " + e.getMessage());
    }
  }

  private TraceSettings trace() {
    String sample = "osier.trace.sample";
    String allowed = "a share from 0.0 to 1.0, for example 0.001";
    TraceSample share = value(sample, allowed, () -> TraceSample.of(config.getDouble(sample)));
    String endpoint = "osier.trace.endpoint";
    String address = "the address of a receiver of OTLP, for example http://collector:4318";
    String text = value(endpoint, address, () -> config.getString(endpoint));
    Optional<URI> to =
        text.isEmpty() ? Optional.empty() : Optional.of(value(endpoint, address, () -> url(text)));
    if (to.isEmpty() && !share.isNone()) {
      throw bad(endpoint, address + ", because " + sample + " is above 0");
    }
    return new TraceSettings(share, to, yes("osier.trace.keys"));
  }

  private static URI url(String text) {
    URI url = URI.create(text);
    String scheme = url.getScheme();
    // What is in front of the host would be a secret, and is shown in the log.
    if (url.getHost() == null
        || url.getRawUserInfo() != null
        || !("http".equals(scheme) || "https".equals(scheme))) {
      throw new IllegalArgumentException(text);
    }
    return url;
  }

  private boolean yes(String key) {
    return value(key, "true or false", () -> config.getBoolean(key));
  }

  private Optional<TlsSettings> tls(boolean hasPeers) {
    String at = "osier.tls.";
    Optional<Path> certificate = file(at + "certificate");
    Optional<Path> key = file(at + "key");
    Optional<Path> authorities = file(at + "authorities");
    TlsSettings.Certificates clientCertificates =
        choice(at + "client-certificates", TlsSettings.Certificates.class);
    boolean asksClients = clientCertificates != TlsSettings.Certificates.FALSE;
    TlsContext.Provider provider = choice(at + "provider", TlsContext.Provider.class);
    if (certificate.isEmpty()) {
      if (key.isPresent() || authorities.isPresent() || asksClients) {
        throw bad(
            at + "certificate", "a file in PEM form, as other settings of osier.tls are given");
      }
      return Optional.empty();
    }
    if (key.isEmpty()) {
      throw bad(at + "key", "a file in PEM form: the private key of osier.tls.certificate");
    }
    if (authorities.isEmpty() && (hasPeers || asksClients)) {
      throw bad(
          at + "authorities",
          "a file in PEM form: the certificates of those who sign "
              + (hasPeers ? "the other datacenters'" : "the clients'"));
    }
    return Optional.of(
        new TlsSettings(
            new TlsFiles(Optional.of(new TlsFiles.Own(certificate.get(), key.get())), authorities),
            clientCertificates,
            yes(at + "admin"),
            yes(at + "required"),
            provider));
  }

  /** A file; empty if none is named. */
  private Optional<Path> file(String key) {
    return value(
        key,
        "a file's name",
        () ->
            config.getString(key).isEmpty()
                ? Optional.empty()
                : Optional.of(Path.of(config.getString(key))));
  }

  private Optional<AdminSettings> admin(String dc, int greeting) {
    String at = "osier.admin.";
    boolean enabled = yes(at + "enabled");
    String host = value(at + "host", "an address, or auto", () -> config.getString(at + "host"));
    if (host.isBlank()) {
      throw bad(at + "host", "an address, or auto");
    }
    AdminSettings settings =
        new AdminSettings(
            host.equals(AUTO) ? config.getString("osier.listen.host") : host,
            integer(at + "port", 0, 65_535),
            new PortLimits(integer(at + "connections", 1, 100_000), greeting, greeting),
            names(dc, host));
    return enabled ? Optional.of(settings) : Optional.empty();
  }

  /** Under which names the admin port may be asked for. */
  private Set<String> names(String dc, String host) {
    String key = "osier.admin.names";
    String allowed = "a list of names, for example [eu.example], without ports";
    Set<String> names = new TreeSet<>();
    for (String name : value(key, allowed, () -> listed(key))) {
      if (!HOST_NAME.matcher(name).matches()) {
        throw bad(key, allowed);
      }
      names.add(name.toLowerCase(Locale.ROOT));
    }
    // Those that are configured anyway: what others call this datacenter, and what it listens at.
    names.add(dc.toLowerCase(Locale.ROOT));
    names.add(host.toLowerCase(Locale.ROOT));
    names.add(config.getString("osier.listen.host").toLowerCase(Locale.ROOT));
    if (config.hasPath(PEERS + "." + dc)) {
      names.add(
          address(config.getString(PEERS + "." + dc)).getHostString().toLowerCase(Locale.ROOT));
    }
    return names;
  }

  /** A list, which in the environment is written with commas. */
  private List<String> listed(String key) {
    if (config.getValue(key).unwrapped() instanceof String text) {
      return Arrays.stream(text.split(",")).map(String::strip).filter(n -> !n.isEmpty()).toList();
    }
    return strings(config.getList(key));
  }

  private int connections(String key) {
    return isAuto(key) ? memory.connections() : integer(key, 1, 1_000_000);
  }

  private UserLimits userLimits(int allConnections, int queue) {
    String at = "osier.user-limits.";
    return new UserLimits(
        userLimit(at + "connections", 1_000_000, allConnections),
        userLimit(at + "requests", 10_000_000, queue),
        isAuto(at + "bytes")
            ? UserLimits.Limit.partOf(memory.requestBytes())
            : UserLimits.Limit.given(size(at + "bytes", 64 << 10)));
  }

  private UserLimits.Limit userLimit(String key, int max, int all) {
    return isAuto(key)
        ? UserLimits.Limit.partOf(all)
        : UserLimits.Limit.given(integer(key, 1, max));
  }

  private MemoryShares memory() {
    MemoryShares auto = memory.shares();
    return new MemoryShares(
        share("commands", auto.commands()),
        share("trails", auto.trails()),
        share("relays", auto.relays()),
        share("waiting", auto.waiting()),
        share("history", auto.history()),
        share("transactions", auto.transactions()),
        share("ended", auto.ended()));
  }

  private long share(String name, long auto) {
    String key = "osier.memory." + name;
    return isAuto(key) ? auto : size(key, 64 << 10);
  }

  private boolean isAuto(String key) {
    return config.getValue(key).unwrapped().equals(AUTO);
  }

  /** Each port is one of its own; 0 is any free one. */
  private void checkPorts() {
    List<String> keys =
        config.getBoolean("osier.admin.enabled")
            ? List.of("osier.listen.client-port", "osier.listen.peer-port", "osier.admin.port")
            : List.of("osier.listen.client-port", "osier.listen.peer-port");
    for (int i = 1; i < keys.size(); i++) {
      for (int k = 0; k < i; k++) {
        int port = integer(keys.get(i), 0, 65_535);
        if (port != 0 && port == integer(keys.get(k), 0, 65_535)) {
          throw bad(keys.get(i), "another port than " + keys.get(k));
        }
      }
    }
  }

  private StoreSettings store(String dc) {
    String at = "osier.store.";
    String dir = value(at + "dir", "a directory", () -> config.getString(at + "dir"));
    return new StoreSettings(
        dir.isEmpty()
            ? Optional.empty()
            : Optional.of(value(at + "dir", "a directory", () -> Path.of(dir, dc))),
        choice(at + "durability", StoreSettings.Durability.class),
        isAuto(at + "cache") ? memory.cacheBytes() : size(at + "cache", 1 << 20),
        size(at + "min-free", 0),
        integer(at + "log-max", 1_000, 1_000_000_000));
  }

  private long size(String key, long min) {
    String allowed = "a size of at least " + min + "B, for example 256MiB";
    long value = value(key, allowed, () -> config.getBytes(key));
    if (value < min) {
      throw bad(key, allowed);
    }
    return value;
  }

  private Map<String, InetSocketAddress> peers(String dc) {
    Map<String, InetSocketAddress> peers = new TreeMap<>();
    for (String name : config.getObject(PEERS).keySet()) {
      String key = PEERS + "." + name;
      String allowed = HostPort.ALLOWED;
      peers.put(
          value(key, "under a datacenter's name", () -> ReplicaId.checkDcName(name)),
          value(key, allowed, () -> address(config.getString(key))));
    }
    Map<InetSocketAddress, String> names = new HashMap<>();
    peers.forEach(
        (name, address) -> {
          String other = names.put(address, name);
          if (other != null) {
            throw bad(PEERS + "." + name, "another address than that of " + other);
          }
        });
    peers.remove(dc); // one file may serve all datacenters, with the name from the environment
    return peers;
  }

  private static InetSocketAddress address(String text) {
    return HostPort.parse(text)
        .map(a -> InetSocketAddress.createUnresolved(a.host(), a.port()))
        .orElseThrow(() -> new IllegalArgumentException(text));
  }

  private List<KeyspacePolicy> keyspaces(String dc, Map<String, InetSocketAddress> peers) {
    List<KeyspacePolicy> keyspaces = new ArrayList<>();
    ConfigObject all = config.getObject(KEYSPACES);
    for (String name : new TreeSet<>(all.keySet())) {
      boolean plain = name.matches("[A-Za-z][A-Za-z0-9_-]*");
      String prefix = KEYSPACES + "." + (plain ? name : ConfigUtil.quoteString(name));
      if (!(all.get(name) instanceof ConfigObject)) {
        throw bad(prefix, "a block of settings, for example { sla = 2s }");
      }
      Set<String> datacenters = new TreeSet<>(peers.keySet());
      datacenters.add(dc);
      KeyspacePolicy policy = withDefaults(prefix).keyspace(name, prefix, datacenters);
      if (policy.heldBy(dc)) {
        keyspaces.add(policy);
      }
    }
    return keyspaces;
  }

  /** A view in which a keyspace has all settings. */
  private ConfigReader withDefaults(String prefix) {
    Config withDefaults =
        config.withValue(prefix, config.getObject(prefix).withFallback(config.getObject(DEFAULTS)));
    String partitions = prefix + ".partitions";
    if (!config.hasPath(partitions)
        && withDefaults.getString(prefix + ".consistency").equalsIgnoreCase("causal")) {
      // The default is for session keyspaces; a causal one has one sequencer.
      withDefaults = withDefaults.withValue(partitions, ConfigValueFactory.fromAnyRef(1));
    }
    return new ConfigReader(source, withDefaults, memory);
  }

  /**
   * Reads one keyspace that no configuration file names.
   *
   * @param source what errors call it
   * @param prefix where its settings are in {@code own}
   * @param datacenters all that there are
   */
  static KeyspacePolicy keyspace(
      String source, Config own, String name, String prefix, Set<String> datacenters) {
    Config reference = ConfigFactory.parseResources(ConfigReader.class, "/osier-reference.conf");
    Config all = own.withFallback(reference.withOnlyPath(DEFAULTS)).resolve();
    return new ConfigReader(source, all, MemoryPlan.ofThisProcess())
        .withDefaults(prefix)
        .keyspace(name, prefix, datacenters);
  }

  private KeyspacePolicy keyspace(String name, String prefix, Set<String> datacenters) {
    KeyspacePolicy.Consistency consistency =
        choice(prefix + ".consistency", KeyspacePolicy.Consistency.class);
    List<String> replicas =
        value(
            prefix + ".replicas",
            "a list of datacenters' names",
            () -> strings(config.getList(prefix + ".replicas")));
    for (String replica : replicas) {
      if (!datacenters.contains(replica)) {
        throw bad(prefix + ".replicas", "a list of datacenters, of which there are " + datacenters);
      }
    }
    String limits = prefix + ".limits";
    // What all of them do to an object before they hear of each other must fit in a record.
    int holders = replicas.isEmpty() ? datacenters.size() : replicas.size();
    int objectBytesMax =
        Math.min(KeyspacePolicy.Limits.OBJECT_BYTES_CAP, Codec.OBJECT_BYTES_MAX / holders);
    return value(
        prefix,
        "a keyspace: its name 1 to 64 of A-Z a-z 0-9 . _ -, a letter first; 1 partition if causal",
        () ->
            new KeyspacePolicy(
                name,
                consistency,
                duration(prefix + ".sla", Duration.ZERO, KeyspacePolicy.SLA_MAX),
                choice(prefix + ".propagation", KeyspacePolicy.Propagation.class),
                choice(prefix + ".payload", KeyspacePolicy.StatePayload.class),
                replicas,
                integer(prefix + ".partitions", 1, KeyspacePolicy.PARTITIONS_MAX),
                new KeyspacePolicy.Limits(
                    bytes(limits + ".key", 1, io.osier.core.Key.LENGTH_MAX),
                    bytes(limits + ".value", 1, KeyspacePolicy.Limits.VALUE_BYTES_CAP),
                    bytes(limits + ".object", 1, objectBytesMax)),
                duration(prefix + ".history", Duration.ZERO, KeyspacePolicy.HISTORY_MAX)));
  }

  private static List<String> strings(ConfigList list) {
    return list.stream().map(v -> v.unwrapped().toString()).toList();
  }

  private AdaptationSettings adaptation() {
    String at = "osier.adaptation.";
    int capacity = integer(at + "capacity", 1, 1_000_000);
    int period = millis(at + "period", 10);
    String above = "a number above 0";
    double threshold =
        value(at + "ratio-threshold", above, () -> config.getDouble(at + "ratio-threshold"));
    if (!(threshold > 0)) {
      throw bad(at + "ratio-threshold", above);
    }
    return new AdaptationSettings(
        capacity,
        integer(at + "top-k", 0, capacity),
        period,
        millis(at + "half-life", period),
        integer(at + "group", 0, 1_000_000),
        integer(at + "stable-periods", 1, 1_000),
        choice(at + "policy", AdaptationSettings.Policy.class),
        threshold);
  }
}
