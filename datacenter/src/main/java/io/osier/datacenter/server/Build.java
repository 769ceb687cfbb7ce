package io.osier.datacenter.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/**
 * The version and the commit from which this program was built, as the build recorded them.
 * Immutable.
 *
 * @param version the artifacts' version; {@code unknown} if Maven did not build the program
 * @param commit the sources' commit, abbreviated, followed by {@code +} if the sources had changed
 *     since; {@code unknown} if they were in no repository
 */
public record Build(String version, String commit) {
  private static final String UNKNOWN = "unknown";
  private static final Build THIS = read();

  public static Build ofThisProgram() {
    return THIS;
  }

  private static Build read() {
    Properties properties = new Properties();
    try (InputStream in = Build.class.getResourceAsStream("build.properties")) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return of(properties);
  }

  /** Reads the build's properties; one that was not filled in is unknown. */
  static Build of(Properties properties) {
    String commit = filledIn(properties, "commit");
    boolean changed = !commit.equals(UNKNOWN) && filledIn(properties, "changed").equals("true");
    return new Build(filledIn(properties, "version"), changed ? commit + "+" : commit);
  }

  private static String filledIn(Properties properties, String name) {
    String value = properties.getProperty(name, "").strip();
    return value.isEmpty() || value.startsWith("${") ? UNKNOWN : value;
  }

  /** Returns a text for people: {@code 0.1.0 (commit 1234567)}. */
  @Override
  public String toString() {
    return version + " (commit " + commit + ")";
  }
}
