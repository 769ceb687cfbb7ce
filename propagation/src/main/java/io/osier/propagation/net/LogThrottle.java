package io.osier.propagation.net;

import java.util.HashMap;
import java.util.Map;

/**
 * Remembers the last text that was logged on each subject, since an attempt that is repeated every
 * second fails in the same way every second. Forgets everything when there are too many subjects.
 * Thread-safe.
 */
public final class LogThrottle {
  private static final int SUBJECTS_MAX = 1_000;

  private final Map<String, String> said = new HashMap<>();

  /** Notes a text on a subject; returns false if it is the same as the last one. */
  public synchronized boolean isNews(String subject, String text) {
    if (said.size() > SUBJECTS_MAX) {
      said.clear();
    }
    return !text.equals(said.put(subject, text));
  }

  /** Forgets the last text on a subject; returns whether there was one. */
  public synchronized boolean end(String subject) {
    return said.remove(subject) != null;
  }
}
