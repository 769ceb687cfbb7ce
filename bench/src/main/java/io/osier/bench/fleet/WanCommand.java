package io.osier.bench.fleet;

import io.osier.bench.wan.WanEmulator;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
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

  @Option(
      names = "--control",
      defaultValue = "7500",
      paramLabel = "PORT",
      description = "where it can be spoken to, on this machine (default: ${DEFAULT-VALUE})")
  private int control;

  @Option(names = "--seed", defaultValue = "1", description = "of the jitter (default: 1)")
  private long seed;

  @Parameters(paramLabel = "WORD", description = "links, cut FROM TO, or heal FROM TO")
  private List<String> words = List.of();

  @Spec private CommandSpec spec;

  /** For picocli. */
  public WanCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    if (links.isEmpty() == words.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "either --link, to run, or words to the one that runs");
    }
    for (String option : List.of("--listen", "--seed")) {
      if (!words.isEmpty() && spec.commandLine().getParseResult().hasMatchedOption(option)) {
        throw new ParameterException(
            spec.commandLine(), option + " is for --link, and cannot change the one that runs");
      }
    }
    return words.isEmpty() ? run() : tell();
  }

  private int tell() {
    try {
      String answer = WanControl.tell(control, String.join(" ", words));
      boolean wrong = answer.startsWith("error");
      (wrong ? System.err : System.out).println(answer);
      return wrong ? 1 : 0;
    } catch (IOException e) {
      System.err.println(
          "error: no emulator answers on port "
              + control
              + " of this machine; with --link instead of words one is started");
      return 1;
    }
  }

  private int run() throws InterruptedException {
    List<LinkSpec> specs;
    try {
      specs = links.stream().map(LinkSpec::parse).toList();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--link: " + e.getMessage());
    }
    try (WanEmulator wan = new WanEmulator(seed, host);
        WanControl told = new WanControl(wan, control)) {
      for (LinkSpec s : specs) {
        wan.open(s.name(), s.port(), s.target(), s.quality(), s.quality());
        System.out.printf(
            "link %s: %s:%d leads to %s, %.0f ms%n",
            s.name(), host, s.port(), s.target(), s.quality().delayMillis());
      }
      System.out.println("cut and heal them on port " + told.port());
      new CountDownLatch(1).await(); // SIGTERM ends the process
      return 0;
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) { // Netty throws the checked BindException without declaring it
      System.err.println("error: " + e.getMessage());
      return 1;
    }
  }
}
