package io.osier.bench.fleet;

import io.osier.bench.cluster.Topology;
import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanQuality;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs the emulator of wide-area links between datacenters that others have started. */
@Command(
    name = "wan",
    mixinStandardHelpOptions = true,
    description = {
      "Is the wide-area network between datacenters: each link listens on a port and "
          + "leads to a datacenter's peer port, with a delay. Runs until it is stopped.",
      "",
      "  osier bench wan --link eu-us=7501:us.example:7401 --link ...",
      "",
      "With words it speaks to the one that runs on this machine:",
      "",
      "  osier bench wan cut eu us     # nothing passes between them",
      "  osier bench wan heal eu us",
      "  osier bench wan links         # the bytes of each link"
    })
public final class WanCommand implements Callable<Integer> {
  private static final Pattern LINK =
      Pattern.compile("(\\w+)-(\\w+)=(\\d{1,5}):(.+):(\\d{1,5})(?:/(\\d+(?:\\.\\d+)?))?");

  /** The port at which a running emulator takes commands. */
  private static final int CONTROL_PORT = 7500;

  @Option(
      names = "--link",
      paramLabel = "FROM-TO=PORT:HOST:PORT[/MS]",
      description = "a link, its delay one way; without one that of the demo's datacenters")
  private List<String> links = List.of();

  @Option(
      names = "--listen",
      defaultValue = "127.0.0.1",
      paramLabel = "HOST",
      description = "the address on which the links listen (default: ${DEFAULT-VALUE})")
  private String host;

  @Parameters(paramLabel = "WORD", description = "links, cut FROM TO, or heal FROM TO")
  private List<String> words = List.of();

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    if (links.isEmpty() == words.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "either --link, to run, or words to the one that runs");
    }
    return words.isEmpty() ? run() : tell();
  }

  private int tell() {
    try {
      String answer = WanControl.tell(CONTROL_PORT, String.join(" ", words));
      boolean wrong = answer.startsWith("error");
      (wrong ? System.err : System.out).println(answer);
      return wrong ? 1 : 0;
    } catch (IOException e) {
      System.err.println(
          "error: no emulator answers on port " + CONTROL_PORT + "; --link instead starts one");
      return 1;
    }
  }

  private int run() throws InterruptedException {
    try (WanEmulator wan = new WanEmulator(1, host);
        WanControl told = new WanControl(wan, CONTROL_PORT)) {
      links.forEach(link -> open(wan, link));
      System.out.println("cut and heal them on port " + told.port());
      new CountDownLatch(1).await(); // SIGTERM ends the process
      return 0;
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--link: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) { // Netty throws the checked BindException without declaring it
      System.err.println("error: " + e.getMessage());
      return 1;
    }
  }

  /**
   * Opens a link in the notation of --link: by {@code eu-us=7501:us:7401} eu reaches us.
   *
   * @throws IllegalArgumentException if the text is no link, or its delay is left out and unknown
   */
  static void open(WanEmulator wan, String text) {
    Matcher m = LINK.matcher(text);
    if (!m.matches()) {
      throw new IllegalArgumentException(
          "FROM-TO=PORT:HOST:PORT with /MILLISECONDS of delay behind it, or without, not: " + text);
    }
    String name = m.group(1) + "-" + m.group(2);
    double delay =
        m.group(6) == null
            ? Topology.delayMillis(m.group(1), m.group(2))
            : Double.parseDouble(m.group(6));
    WanQuality quality = new WanQuality(delay, Topology.JITTER_MILLIS, 0);
    // A name is looked up for each connection.
    InetSocketAddress target =
        InetSocketAddress.createUnresolved(m.group(4), Integer.parseInt(m.group(5)));
    int port = wan.open(name, Integer.parseInt(m.group(3)), target, quality, quality).port();
    System.out.printf("link %s: %d leads to %s, %.0f ms%n", name, port, target, delay);
  }
}
