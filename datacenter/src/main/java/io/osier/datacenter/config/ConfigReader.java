package io.osier.datacenter.config;

import static java.util.Objects.requireNonNull;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigUtil;
import io.osier.adaptation.AdaptationSettings;
import io.osier.adaptation.PlacementPolicy;
import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.trace.TraceSample;
import io.osier.datacenter.placement.PlacementSettings;
import io.osier.datacenter.store.StoreSettings;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.net.link.PortLimits;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Reads a datacenter's configuration: the reference, the datacenter's file, the environment. Every
 * error is an {@link OsierException} CONFIGURATION that names the file, the key, the value and what
 * is allowed.
 */
public final class ConfigReader {
  private final ConfigValues values;
  private final MemoryPlan memory;
  private final String written;

  private ConfigReader(ConfigValues values, MemoryPlan memory, String written) {
    this.values = values;
    this.memory = memory;
    this.written = written;
  }

  /**
   * Reads a file.
   *
   * @param warnings hears of what is ignored and may have been meant as a setting
   */
  public static DatacenterConfig read(
      File file, Map<String, String> environment, Consumer<String> warnings) {
    if (file.isDirectory()) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, file.getPath() + " is a directory, not a configuration file");
    }
    if (!file.isFile()) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, "there is no configuration file " + file.getPath());
    }
    return read(
        file.getPath(),
        textOf(file),
        () -> ConfigFactory.parseFile(file, ConfigParseOptions.defaults().setAllowMissing(false)),
        environment,
        MemoryPlan.ofThisProcess(),
        warnings);
  }

  /**
   * Reads a text. What variables of the environment are ignored is not said.
   *
   * @param source what errors call it
   */
  public static DatacenterConfig read(String source, String text, Map<String, String> environment) {
    return read(source, text, environment, MemoryPlan.ofThisProcess(), warning -> {});
  }

  public static DatacenterConfig read(
      String source, String text, Map<String, String> environment, Consumer<String> warnings) {
    return read(source, text, environment, MemoryPlan.ofThisProcess(), warnings);
  }

  /** As the other one, for a heap of another size than this process's. */
  static DatacenterConfig read(
      String source, String text, Map<String, String> environment, MemoryPlan memory) {
    return read(source, text, environment, memory, warning -> {});
  }

  private static DatacenterConfig read(
      String source,
      String text,
      Map<String, String> environment,
      MemoryPlan memory,
      Consumer<String> warnings) {
    return read(source, text, () -> ConfigFactory.parseString(text), environment, memory, warnings);
  }

  private static String textOf(File file) {
    if (file.getName().endsWith(".properties")) {
      return ""; // has no blocks
    }
    try {
      ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file.toPath()));
      CharBuffer text = CharBuffer.allocate(bytes.remaining());
      if (StandardCharsets.UTF_8.newDecoder().decode(bytes, text, true).isError()) {
        long line = 1 + text.flip().chars().filter(c -> c == '\n').count();
        throw new OsierException(
            ErrorCode.CONFIGURATION,
            file.getPath() + ", line " + line + ": is not UTF-8 text: save the file as UTF-8");
      }
      return text.flip().toString();
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, file.getPath() + ": cannot be read: " + e.getMessage(), e);
    }
  }

  private static DatacenterConfig read(
      String source,
      String text,
      Supplier<Config> parser,
      Map<String, String> environment,
      MemoryPlan memory,
      Consumer<String> warnings) {
    List<WrongSetting> wrong = new ArrayList<>();
    try {
      Config own = parser.get();
      wrong.addAll(DuplicateNames.of(text));
      SettingNames known = new SettingNames();
      Config merged =
          known
              .of(environment, warnings)
              .withFallback(known.check(source, own, wrong))
              .withFallback(ConfigValues.REFERENCE)
              .resolve();
      Optional<DatacenterConfig> config = read(source, merged, memory, wrong);
      if (config.isEmpty() || !wrong.isEmpty()) {
        throw WrongSetting.all(source, wrong);
      }
      ProtectedMode.check(source, config.get());
      memory.check(source, config.get());
      return config.get();
    } catch (ConfigException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          source + ": " + Braces.problem(text).orElseGet(() -> unnamed(source, e)),
          e);
    }
  }

  /** Reads all settings; behind one that is wrong with its default, so that others are found. */
  private static Optional<DatacenterConfig> read(
      String source, Config merged, MemoryPlan memory, List<WrongSetting> wrong) {
    Config config = merged;
    while (true) {
      try {
        String written = SettingText.of(config);
        return Optional.of(
            new ConfigReader(new ConfigValues(source, config), memory, written).datacenter());
      } catch (WrongSetting e) {
        wrong.add(e);
        Config mended = e.mended(config);
        if (mended.equals(config)) {
          return Optional.empty();
        }
        config = mended;
      }
    }
  }

  /** The library's words, without the file, which it puts in front of them with its whole path. */
  private static String unnamed(String source, ConfigException e) {
    String file = new File(source).getName();
    return String.valueOf(e.getMessage())
        .replaceFirst("^(\\S*" + Pattern.quote(file) + "|String): (\\d+): ", "line $2: ");
  }

  private DatacenterConfig datacenter() {
    String dc =
        values.value(
            "osier.dc",
            "this datacenter's name: 1 to 63 of A-Z a-z 0-9 _ -, a letter first",
            () -> ReplicaId.checkDcName(values.config().getString("osier.dc")));
    Map<String, InetSocketAddress> peers = peers(dc);
    PortReader ports = new PortReader(values, memory);
    ports.checkPorts();
    int greeting = values.millis("osier.listen.greeting-timeout", 100);
    int frame = values.millis("osier.listen.frame-timeout", 100);
    int connections = ports.connections("osier.listen.client-connections");
    int queue = values.integer("osier.queue", 1, 1 << 20);
    Map<Boolean, List<KeyspacePolicy>> keyspaces =
        new KeyspaceReader(values)
            .keyspaces(dc, peers.keySet()).stream()
                .collect(Collectors.partitioningBy(k -> !k.partitioning().homes().isEmpty()));
    Map<Boolean, List<KeyspacePolicy>> plain =
        requireNonNull(keyspaces.get(false)).stream()
            .collect(Collectors.partitioningBy(k -> k.heldBy(dc)));
    return new DatacenterConfig(
        dc,
        values.text("osier.cluster", "a name"),
        values.value(
            "osier.incarnation-min",
            "a whole number",
            () -> values.config().getLong("osier.incarnation-min")),
        values.host("osier.listen.host"),
        values.integer("osier.listen.client-port", 0, 65_535),
        values.integer("osier.listen.peer-port", 0, 65_535),
        ports.announced(dc),
        new PortLimits(connections, greeting, frame),
        ports.userLimits(connections, queue),
        new PortLimits(
            values.integer("osier.listen.peer-connections", 1, 100_000), greeting, frame),
        ports.admin(dc, greeting),
        ports.redis(),
        peers,
        requireNonNull(plain.get(true)),
        requireNonNull(plain.get(false)),
        requireNonNull(keyspaces.get(true)),
        new StreamSettings(
            values.bytes("osier.streams.window", 64 << 10, 1 << 30),
            values.bytes("osier.streams.frame", 1 << 10, 16 << 20),
            values.millis("osier.streams.retry", 10),
            values.millis("osier.streams.status", 10),
            values.millis("osier.streams.heal", 0),
            values.millis("osier.streams.forget", 0)),
        values.bytes("osier.streams.compressed", 0, 1 << 30),
        adaptation(),
        store(dc),
        memory(),
        share("forwarded", memory.forwardedBytes()),
        copies(),
        placement(),
        queue,
        values.duration("osier.shutdown-timeout", Duration.ZERO, Duration.ofHours(1)),
        values.duration("osier.slow-requests", Duration.ZERO, Duration.ofHours(1)),
        trace(),
        ports.tls(!peers.isEmpty()),
        new UserReader(values).users(),
        values.yes("osier.insecure"),
        values.file("osier.audit.file"),
        written);
  }

  private TraceSettings trace() {
    String sample = "osier.trace.sample";
    String allowed = "a share from 0.0 to 1.0, for example 0.001";
    TraceSample share =
        values.value(sample, allowed, () -> TraceSample.of(values.config().getDouble(sample)));
    String endpoint = "osier.trace.endpoint";
    String address = "the address of a receiver of OTLP, for example http://collector:4318";
    String text = values.text(endpoint, address);
    Optional<URI> to =
        text.isEmpty()
            ? Optional.empty()
            : Optional.of(values.value(endpoint, address, () -> url(text)));
    if (to.isEmpty() && !share.isNone()) {
      throw values.bad(endpoint, address + ", because " + sample + " is above 0");
    }
    return new TraceSettings(share, to, values.yes("osier.trace.keys"));
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

  private MemoryShares memory() {
    MemoryShares auto = memory.shares();
    return new MemoryShares(
        share("commands", auto.commands()),
        share("trails", auto.trails()),
        share("relays", auto.relays()),
        share("waiting", auto.waiting()),
        share("history", auto.history()),
        share("transactions", auto.transactions()),
        share("ended", auto.ended()),
        share("changes", auto.changes()));
  }

  private long share(String name, long auto) {
    String key = "osier.memory." + name;
    return values.isAuto(key) ? auto : values.size(key, 64 << 10);
  }

  private PlacementSettings placement() {
    String at = "osier.placement.";
    Duration horizon = values.duration(at + "horizon", Duration.ofSeconds(1), Duration.ofDays(7));
    return new PlacementSettings(
        new PlacementPolicy(
            values.integer(at + "ms-worth", 0, 1_000_000),
            horizon.toMillis() / 1000.0,
            values.integer(at + "storage-worth", 0, 1_000_000)),
        values.duration(at + "period", Duration.ofMillis(10), Duration.ofHours(1)).toMillis());
  }

  private CopySettings copies() {
    String bytes = "osier.memory.copies";
    return new CopySettings(
        values.isAuto(bytes) ? memory.copyBytes() : values.size(bytes, 0),
        values.integer("osier.placement.followed", 0, 100_000),
        values.integer("osier.placement.ms-worth", 0, 1_000_000));
  }

  private StoreSettings store(String dc) {
    String at = "osier.store.";
    String dir = values.text(at + "dir", "a directory");
    return new StoreSettings(
        dir.isEmpty()
            ? Optional.empty()
            : Optional.of(values.value(at + "dir", "a directory", () -> Path.of(dir, dc))),
        values.choice(at + "durability", StoreSettings.Durability.class),
        values.isAuto(at + "cache") ? memory.cacheBytes() : values.size(at + "cache", 1 << 20),
        values.size(at + "min-free", 0),
        values.integer(at + "log-max", 1_000, 1_000_000_000));
  }

  private Map<String, InetSocketAddress> peers(String dc) {
    Map<String, InetSocketAddress> peers = new TreeMap<>();
    for (String name : values.config().getObject(SettingNames.PEERS).keySet()) {
      String key = SettingNames.PEERS + "." + ConfigUtil.joinPath(name);
      peers.put(
          values.value(key, "under a datacenter's name", () -> ReplicaId.checkDcName(name)),
          values.address(key));
    }
    Map<InetSocketAddress, String> names = new HashMap<>();
    peers.forEach(
        (name, address) -> {
          String other = names.put(address, name);
          if (other != null) {
            throw values.bad(
                SettingNames.PEERS + "." + name, "another address than that of " + other);
          }
        });
    peers.remove(dc); // one file may serve all datacenters, with the name from the environment
    return peers;
  }

  private AdaptationSettings adaptation() {
    String at = "osier.adaptation.";
    int capacity = values.integer(at + "capacity", 1, 1_000_000);
    int period = values.millis(at + "period", 10);
    String above = "a number above 0";
    double threshold =
        values.value(
            at + "ratio-threshold", above, () -> values.config().getDouble(at + "ratio-threshold"));
    if (!(threshold > 0)) {
      throw values.bad(at + "ratio-threshold", above);
    }
    return new AdaptationSettings(
        capacity,
        values.integer(at + "top-k", 0, capacity),
        period,
        values.millis(at + "half-life", period),
        values.integer(at + "group", 0, 1_000_000),
        values.integer(at + "stable-periods", 1, 1_000),
        values.choice(at + "policy", AdaptationSettings.Policy.class),
        threshold);
  }
}
