package io.osier.testcontainers;

import com.github.dockerjava.api.model.ContainerNetwork;
import io.osier.core.net.Ports;
import io.osier.proxy.OsierClient;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * A datacenter in a container. One is enough for the tests of most applications:
 *
 * <pre>{@code
 * try (OsierContainer osier = new OsierContainer("osier", "eu").withKeyspace("shop", "sla = 1s")) {
 *   osier.start();
 *   try (OsierClient client = osier.client()) {
 *     client.session().keyspace("shop").counter("likes").increment(1);
 *   }
 * }
 * }</pre>
 *
 * <p>Several replicate with each other in a {@link Network}: each gets the datacenter's name as its
 * alias, knows the others by {@link #withPeers}, and all are started with {@code
 * Startables.deepStart}. The ports on the host are chosen once and stay, so that a client finds a
 * datacenter again that was {@linkplain #kill killed} and {@linkplain #startAgain started again}.
 *
 * <p>The ports are open on this machine's loopback address alone, unless the engine is elsewhere.
 *
 * <p>Nothing is stored outside the container; what is stored in it lasts until {@link #stop()}. Not
 * thread-safe.
 */
public final class OsierContainer extends GenericContainer<OsierContainer> {
  /** Where clients connect, in the container. */
  public static final int CLIENT_PORT = 7400;

  /** Where other datacenters connect, in the container. */
  public static final int PEER_PORT = 7401;

  /** Metrics and health, in the container. */
  public static final int ADMIN_PORT = 7402;

  private static final String CONFIGURATION = "/etc/osier/osier.conf";
  private static final Duration START_MAX = Duration.ofMinutes(2);

  private final String dc;
  private final int clientPort = Ports.free();
  private final int adminPort = Ports.free();
  private final Map<String, String> peers = new TreeMap<>();
  private final Map<String, String> keyspaces = new TreeMap<>();
  private String settings = "";

  /**
   * A datacenter that is not started yet. The image is not pulled if it is there.
   *
   * @param image the name of the image, as in {@code docker build -t osier .}
   * @param dc the datacenter's name
   */
  public OsierContainer(String image, String dc) {
    super(DockerImageName.parse(image));
    this.dc = dc;
    withExposedPorts(CLIENT_PORT, ADMIN_PORT);
    withNetworkAliases(dc);
    waitingFor(
        Wait.forHttp("/readyz")
            .forPort(ADMIN_PORT)
            .forStatusCode(200)
            .withStartupTimeout(START_MAX));
  }

  /**
   * Adds a keyspace. Without any there is {@code test}, with the default settings.
   *
   * @param content its settings, for example {@code sla = 500ms}; may be empty
   */
  public OsierContainer withKeyspace(String name, String content) {
    keyspaces.put(name, content);
    return this;
  }

  /** Adds other datacenters, whose names are their aliases in the network. */
  public OsierContainer withPeers(String... names) {
    for (String name : names) {
      if (!name.equals(dc)) {
        peers.put(name, name + ":" + PEER_PORT);
      }
    }
    return this;
  }

  /** Sets further lines inside {@code osier { … }}. */
  public OsierContainer withSettings(String lines) {
    settings = lines;
    return this;
  }

  @Override
  protected void configure() {
    // There are no users unless settings name some: an engine on this machine is for it alone.
    String at = isLoopback(getHost()) ? "127.0.0.1:" : "";
    setPortBindings(
        List.of(at + clientPort + ":" + CLIENT_PORT, at + adminPort + ":" + ADMIN_PORT));
    withCopyToContainer(Transferable.of(configuration(), 0444), CONFIGURATION);
  }

  private static boolean isLoopback(String host) {
    return host.equals("localhost") || host.startsWith("127.");
  }

  private String configuration() {
    StringBuilder text = new StringBuilder("osier {\n  dc = " + dc + "\n");
    text.append("  insecure = true\n");
    text.append("  admin.names = [\"" + getHost() + "\"]\n  peers {\n");
    peers.forEach((name, at) -> text.append("    " + name + " = \"" + at + "\"\n"));
    text.append("  }\n  keyspaces {\n");
    (keyspaces.isEmpty() ? Map.of("test", "") : keyspaces)
        .forEach((name, content) -> text.append("    " + name + " { " + content + " }\n"));
    return text.append("  }\n  " + settings + "\n}\n").toString();
  }

  /** Writes the present configuration into the container; the next start reads it. */
  public void reconfigure() {
    copyFileToContainer(
        Transferable.of(configuration().getBytes(StandardCharsets.UTF_8), 0444), CONFIGURATION);
  }

  /** The datacenter's name. */
  public String dc() {
    return dc;
  }

  /** The address for clients on this host, as host:port. */
  public String endpoint() {
    return getHost() + ":" + clientPort;
  }

  /** A page of the admin port, for example {@code /metrics}, as seen from this host. */
  public URI admin(String path) {
    return URI.create("http://" + getHost() + ":" + adminPort + path);
  }

  /** A new client of this datacenter alone, which is the caller's to close. */
  public OsierClient client() {
    return OsierClient.builder().endpoint(dc, endpoint()).build();
  }

  /** Ends the process as {@code kill -9} does; the container and what is stored in it stay. */
  public void kill() {
    getDockerClient().killContainerCmd(getContainerId()).withSignal("SIGKILL").exec();
  }

  /**
   * Ends the process as SIGTERM does, and waits for it.
   *
   * @param atMost after this time it is killed
   */
  public void stopProcess(Duration atMost) {
    getDockerClient()
        .stopContainerCmd(getContainerId())
        .withTimeout((int) atMost.toSeconds())
        .exec();
  }

  /**
   * Starts the process of a container that was killed or stopped; does not wait until it serves.
   */
  public void startAgain() {
    getDockerClient().startContainerCmd(getContainerId()).exec();
  }

  /** Stops all of the container's processes where they are, as a machine that stalls. */
  public void pause() {
    getDockerClient().pauseContainerCmd(getContainerId()).exec();
  }

  /** Lets a paused container go on. */
  public void resume() {
    getDockerClient().unpauseContainerCmd(getContainerId()).exec();
  }

  /** Joins a further network, under the datacenter's name. */
  public void join(Network network) {
    getDockerClient()
        .connectToNetworkCmd()
        .withNetworkId(network.getId())
        .withContainerId(getContainerId())
        .withContainerNetwork(new ContainerNetwork().withAliases(dc))
        .exec();
  }

  /** Leaves a network: nothing passes any more, and nobody is told. {@link #join} heals it. */
  public void leave(Network network) {
    getDockerClient()
        .disconnectFromNetworkCmd()
        .withNetworkId(network.getId())
        .withContainerId(getContainerId())
        .exec();
  }
}
