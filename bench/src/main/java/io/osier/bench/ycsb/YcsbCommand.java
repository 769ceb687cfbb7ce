package io.osier.bench.ycsb;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** Runs YCSB's own client with Osier's binding and one of YCSB's six workloads. */
@Command(
    name = "ycsb",
    mixinStandardHelpOptions = true,
    description = {
      "Runs YCSB's client against Osier: load inserts the records, a to f are its core workloads.",
      "",
      "  osier server --memory           in another terminal",
      "  osier ycsb load",
      "  osier ycsb a -threads 8 -s",
      "  osier ycsb b -p osier.endpoints=eu=eu:7400,us=us:7400 -p table=shop",
      "",
      "What follows the workload is YCSB's own: -p NAME=VALUE, -P FILE with such lines, -threads"
          + " N, -target OPS, -s. Without a workload (-load or -t) everything is.",
      "",
      "Properties: table (the keyspace; default), recordcount (10000), operationcount (100000) and"
          + " the others of YCSB; of the binding osier.endpoints (local=127.0.0.1:7400)."
    })
public final class YcsbCommand implements Callable<Integer> {
  private static final String LOCAL = "local=127.0.0.1:7400";
  private static final List<String> WORKLOADS = List.of("a", "b", "c", "d", "e", "f");

  /** The options of YCSB's client. */
  private static final Set<String> ALONE = Set.of("-s", "-load", "-t");

  private static final Set<String> WITH_VALUE =
      Set.of("-p", "-P", "-threads", "-target", "-db", "-l");

  private static final List<String> NUMBERS =
      List.of(
          "recordcount",
          "operationcount",
          "insertstart",
          "insertcount",
          "fieldcount",
          "fieldlength",
          "maxexecutiontime",
          "threadcount",
          "target");

  private static final Pattern WHOLE_NUMBER = Pattern.compile("[0-9]{1,10}");

  @Unmatched private List<String> arguments = new ArrayList<>();

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    List<String> all = new ArrayList<>(List.of("-db", OsierDB.class.getName()));
    if (arguments.isEmpty() || arguments.getFirst().startsWith("-")) {
      all.addAll(arguments);
    } else {
      Path file = Files.createTempFile("osier-ycsb", ".properties");
      file.toFile().deleteOnExit();
      try {
        all.addAll(withWorkload(arguments, file));
        check(properties(all));
      } catch (IllegalArgumentException e) {
        throw new ParameterException(spec.commandLine(), Objects.toString(e.getMessage()));
      } catch (OsierException e) {
        System.err.println("error " + e.code() + ": " + e.reason());
        return 1;
      }
    }
    site.ycsb.Client.main(all.toArray(new String[0])); // exits the process itself
    return 0;
  }

  /**
   * Returns YCSB's arguments for a workload.
   *
   * @param given the workload, and further arguments, which override it
   * @param file the file to which the workload's properties are written
   * @throws IllegalArgumentException if there is no such workload, or an argument is wrong: YCSB
   *     itself would print a stack trace, or its usage and exit with 0
   */
  static List<String> withWorkload(List<String> given, Path file) throws IOException {
    String name = given.getFirst();
    boolean loads = name.equals("load");
    if (!loads && !WORKLOADS.contains(name)) {
      throw new IllegalArgumentException(
          "there is no workload '" + name + "': load comes first, then a, b, c, d, e or f");
    }
    checkArguments(given.subList(1, given.size()));
    String resource = (loads ? "a" : name) + ".properties"; // all have the same records
    try (InputStream in =
        Objects.requireNonNull(YcsbCommand.class.getResourceAsStream(resource), resource)) {
      Files.write(file, in.readAllBytes());
    }
    List<String> all = new ArrayList<>(List.of(loads ? "-load" : "-t", "-P", file.toString()));
    all.addAll(given.subList(1, given.size()));
    Properties properties = properties(all);
    for (String number : NUMBERS) {
      checkNumber("property " + number, properties.getProperty(number, "0"));
    }
    if (properties.getProperty("osier.endpoints") == null) {
      all.addAll(List.of("-p", "osier.endpoints=" + LOCAL));
    }
    return all;
  }

  private static void checkArguments(List<String> arguments) {
    Iterator<String> all = arguments.iterator();
    while (all.hasNext()) {
      String option = all.next();
      if (ALONE.contains(option)) {
        continue;
      }
      if (!WITH_VALUE.contains(option)) {
        throw new IllegalArgumentException(
            "YCSB has no option '"
                + option
                + "'; it has -p NAME=VALUE, -P FILE, -threads N, -target OPS, -s");
      }
      if (!all.hasNext()) {
        throw new IllegalArgumentException("what belongs to " + option + " is missing behind it");
      }
      String value = all.next();
      if (option.equals("-p") && value.indexOf('=') <= 0) {
        throw new IllegalArgumentException("-p must be given NAME=VALUE, not '" + value + "'");
      }
      if (option.equals("-threads") || option.equals("-target")) {
        checkNumber(option, value);
      }
    }
  }

  private static void checkNumber(String name, String value) {
    if (!WHOLE_NUMBER.matcher(value).matches()) {
      throw new IllegalArgumentException(name + " must be a whole number, not '" + value + "'");
    }
  }

  /** Returns the properties that arguments set, as YCSB reads them: -p overrides -P. */
  private static Properties properties(List<String> arguments) throws IOException {
    Properties files = new Properties();
    Properties all = new Properties(files);
    for (int i = 0; i + 1 < arguments.size(); i++) {
      String value = arguments.get(i + 1);
      if (arguments.get(i).equals("-P")) {
        try (Reader in = Files.newBufferedReader(Path.of(value))) {
          files.load(in);
        } catch (IOException e) {
          throw new IllegalArgumentException(
              "the workload file " + value + " cannot be read: " + e);
        }
      } else if (arguments.get(i).equals("-p") && value.indexOf('=') > 0) {
        int at = value.indexOf('=');
        all.setProperty(value.substring(0, at), value.substring(at + 1));
      }
    }
    return all;
  }

  /**
   * Checks that a datacenter answers and has the keyspace, since YCSB itself would print a stack
   * trace and exit with 0.
   *
   * @throws OsierException UNAVAILABLE if no datacenter answers, UNKNOWN_KEYSPACE
   */
  private static void check(Properties properties) {
    try (OsierClient client = OsierDB.connect(properties)) {
      String keyspace = properties.getProperty("table", "usertable");
      if (!client.keyspaces().contains(keyspace)) {
        throw new OsierException(
            ErrorCode.UNKNOWN_KEYSPACE,
            "there is no keyspace '"
                + keyspace
                + "'; -p table=NAME takes another of "
                + client.keyspaces());
      }
    }
  }
}
