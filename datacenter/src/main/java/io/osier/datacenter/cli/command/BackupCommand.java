package io.osier.datacenter.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.cli.session.CliAdmin;
import io.osier.proxy.OsierClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lets a running datacenter make a backup. */
@Command(
    name = "backup",
    mixinStandardHelpOptions = true,
    description = {
      "Makes a backup of a running datacenter's store; reads and updates go on meanwhile.",
      "",
      "The backup is a directory in 'backups' beside the store. It shares files with the "
          + "store, so it takes little room at first; copy it to another machine to survive "
          + "the loss of this one, and delete it like any directory."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:done", "1:failed; the error is one line on standard error", "2:wrong usage"})
public final class BackupCommand implements Callable<Integer> {
  @Option(
      names = "--connect",
      defaultValue = "127.0.0.1:7400",
      paramLabel = "HOST:PORT",
      description = "the datacenter's client address (default: ${DEFAULT-VALUE})")
  private String connect;

  @Option(
      names = "--timeout",
      defaultValue = "300",
      paramLabel = "SECONDS",
      description = "how long it may take (default: ${DEFAULT-VALUE})")
  private int timeoutSeconds;

  @Option(names = "--json", description = "print JSON instead of text")
  private boolean json;

  @Mixin private TlsArguments tls;

  @Mixin private UserArguments user;

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "NAME",
      description = "the backup's name (default: the time)")
  private @Nullable String name;

  @Override
  public Integer call() {
    if (timeoutSeconds < 1) {
      throw new ParameterException(spec.commandLine(), "--timeout must be at least 1 second");
    }
    Duration timeout = Duration.ofSeconds(timeoutSeconds);
    try (OsierClient client = client()) {
      client.awaitConnected(Duration.ofSeconds(Math.min(timeoutSeconds, 10)));
      CompletableFuture<String> answer = client.backupAsync(DC, Optional.ofNullable(name), timeout);
      JsonNode report = CliAdmin.answer(answer);
      System.out.println(json ? answer.join() : text(report));
      return 0;
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.reason());
      return 1;
    }
  }

  private static final String DC = "dc";

  private OsierClient client() {
    try {
      OsierClient.Builder builder =
          OsierClient.builder().name("osier backup").endpoint(DC, connect);
      tls.applyTo(builder);
      user.applyTo(builder);
      return builder.build();
    } catch (IllegalArgumentException e) {
      throw new OsierException(ErrorCode.INVALID_ARGUMENT, String.valueOf(e.getMessage()));
    }
  }

  private static String text(JsonNode report) {
    return "%s: backup %s (%,d bytes)"
        .formatted(
            report.get("dc").asText(), report.get("backup").asText(), report.get("bytes").asLong());
  }
}
