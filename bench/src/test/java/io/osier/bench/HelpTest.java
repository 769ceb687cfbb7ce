package io.osier.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.cli.Main;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** What --help says of every command and of its options. */
final class HelpTest {
  private static final int WIDTH = 80;

  private static List<CommandLine> all(CommandLine command) {
    List<CommandLine> all = new ArrayList<>(List.of(command));
    command.getSubcommands().values().forEach(below -> all.addAll(all(below)));
    return all;
  }

  @TestFactory
  Stream<DynamicTest> everyHelp_fitsAndEndsItsSentences() {
    return all(Main.commandLine(io.osier.bench.Main.COMMANDS)).stream()
        .filter(c -> !(c.getCommand() instanceof CommandLine.HelpCommand)) // picocli's own text
        .map(c -> DynamicTest.dynamicTest(c.getCommandSpec().qualifiedName(), () -> check(c)));
  }

  @Test
  void theTree_isTheWholeProgram() {
    assertThat(all(Main.commandLine(io.osier.bench.Main.COMMANDS)))
        .extracting(c -> c.getCommandSpec().qualifiedName())
        .contains("osier", "osier server", "osier cli", "osier cert user", "osier bench crash");
  }

  private static void check(CommandLine command) {
    assertThat(command.getUsageMessage().lines())
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(WIDTH));
    UsageMessageSpec usage = command.getCommandSpec().usageMessage();
    for (String[] text : List.of(usage.description(), usage.footer())) {
      assertThat(isWrapped(text)).as("lines that picocli should wrap: %s", List.of(text)).isFalse();
    }
    assertThat(usage.description()).as("says what it does").isNotEmpty();
    for (String paragraph : usage.description()) {
      if (isProse(paragraph)) {
        assertThat(paragraph.strip()).matches("(?s).*[.:]");
      }
    }
    for (String example : lines(usage.description(), usage.footer())) {
      if (example.startsWith("  osier ")) { // picocli would break it
        assertThat(example).hasSizeLessThanOrEqualTo(WIDTH);
      }
    }
    for (ArgSpec argument : command.getCommandSpec().args()) {
      assertThat(argument.description())
          .as("a text of one piece for %s", argument.paramLabel())
          .hasSize(1);
      assertThat(argument.description()[0]).doesNotContain("\n").doesNotEndWith(",");
    }
  }

  private static List<String> lines(String[]... texts) {
    return Arrays.stream(texts).flatMap(Arrays::stream).toList();
  }

  /** Examples are indented. */
  private static boolean isProse(String paragraph) {
    return !paragraph.isBlank() && !paragraph.startsWith("  ");
  }

  private static boolean isWrapped(String... text) {
    for (int i = 1; i < text.length; i++) {
      if (isProse(text[i]) && !text[i - 1].isBlank() && !text[i - 1].endsWith(":")) {
        return true;
      }
    }
    return Arrays.stream(text).anyMatch(line -> line.contains("\n"));
  }
}
