package io.osier.propagation.net;

import java.util.HashMap;
import java.util.Map;

/**
 * Remembers what was last said of whom, for a log: what is tried again every second fails the same
 * way every second. Forgets everything when strangers make it too much. Thread-safe.
 */
public final class LogThrottle {
  private static final int SUBJECTS_MAX = 1_000;

  private final Map<String, String> said = new HashMap<>();

  /** Takes note of what is said of a subject; false if that was said of it last. */
  public synchronized boolean isNews(String subject, String text) {
    if (said.size() > SUBJECTS_MAX) {
      said.clear();
    }
    return !text.equals(said.put(subject, text));
  }

  /** What was last said of a subject has an end; whether something was said. */
  public synchronized boolean end(String subject) {
    return said.remove(subject) != null;
  }
}
