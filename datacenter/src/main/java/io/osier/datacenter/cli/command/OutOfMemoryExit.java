package io.osier.datacenter.cli.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import io.osier.core.memory.OutOfMemory;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

/**
 * Ends the process when its memory is used up, with {@link #EXIT_CODE} and a last line that says
 * what helps. A process that went on would accept connections and answer nothing. Thread-safe.
 *
 * <p>Java's own option for this (ExitOnOutOfMemoryError) does not say what helps, cannot be
 * switched on by the program, and does not notice when memory outside the heap runs out. An
 * OutOfMemoryError can occur in any thread, and the code that runs the thread may swallow it. So
 * this looks for it
 *
 * <ul>
 *   <li>where it is not caught: by the default handler of uncaught exceptions, to which {@link
 *       OutOfMemory#report} also leads;
 *   <li>in everything that is logged: Netty's event loops log the errors that they swallow;
 *   <li>by a thread that allocates a little memory again and again, which fails while the heap is
 *       full even if all others swallow their errors;
 *   <li>in the time of garbage collections: a heap in which hardly anything can be freed is
 *       collected all the time, long before an error is thrown.
 * </ul>
 *
 * <p>Everything that the end needs is allocated beforehand.
 */
final class OutOfMemoryExit {
  /** The same as with Java's own option. */
  static final int EXIT_CODE = 3;

  private static final int PROBE_BYTES = 256 << 10;
  private static final long PROBE_MILLIS = 250;

  /** The pause between probes if nothing was collected since the last one, in milliseconds. */
  private static final long QUIET_MILLIS = 1_000;

  /**
   * The number of probes over which the time of collections is measured: about ten seconds during
   * collections.
   */
  private static final int WINDOW = 40;

  /**
   * The limits: collections take this share of the time, and leave this share of the old generation
   * in use.
   */
  private static final double COLLECTING = 0.9;

  private static final double FULL = 0.95;

  private final byte[] lastLine;
  private final AtomicBoolean ending = new AtomicBoolean();
  private final FileOutputStream err = new FileOutputStream(FileDescriptor.err);
  private final List<GarbageCollectorMXBean> collectors =
      ManagementFactory.getGarbageCollectorMXBeans();
  private final List<MemoryPoolMXBean> old =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(MemoryPoolMXBean::isUsageThresholdSupported) // not the young generation
          .filter(p -> p.getCollectionUsage() != null)
          .toList();

  /** A field, so that the probe's allocation is not optimised away. */
  @SuppressWarnings("unused")
  private volatile @Nullable Object probe;

  private OutOfMemoryExit(String lastLine) {
    this.lastLine = (lastLine + System.lineSeparator()).getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Watches this process from now on.
   *
   * @param lastLine the last line on standard error, which says what helps
   */
  static OutOfMemoryExit install(String lastLine) {
    OutOfMemoryExit exit = new OutOfMemoryExit(lastLine);
    exit.check(new IllegalStateException()); // loads the classes that the end needs
    Thread.setDefaultUncaughtExceptionHandler(exit::uncaught);
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext logging) {
      logging.addTurboFilter(exit.new Logged());
    }
    Thread.ofPlatform().name("osier-memory").daemon(true).start(exit::watch);
    return exit;
  }

  /** Ends the process if an error says that its memory is used up. */
  void check(Throwable error) {
    if (OutOfMemory.isCauseOf(error)) {
      end(error);
    }
  }

  private void uncaught(Thread thread, Throwable error) {
    check(error);
    LoggerFactory.getLogger(OutOfMemoryExit.class)
        .error("thread {} ended with an error", thread.getName(), error);
  }

  private void end(Throwable why) {
    if (ending.compareAndSet(false, true)) {
      try {
        say(why);
        err.write(lastLine);
      } catch (IOException e) {
        // Nothing can be printed.
      } finally {
        Runtime.getRuntime().halt(EXIT_CODE);
      }
    }
  }

  /** Prints the error, which says which memory is used up, if there is enough memory for that. */
  private void say(Throwable why) {
    try {
      err.write((why + System.lineSeparator()).getBytes(StandardCharsets.UTF_8));
    } catch (IOException | OutOfMemoryError e) {
      // The last line must suffice.
    }
  }

  private void watch() {
    try {
      long[] collectedMillis = new long[WINDOW];
      long[] atNanos = new long[WINDOW];
      long before = 0;
      for (int i = 0; ; i = (i + 1) % WINDOW) {
        probe = new byte[PROBE_BYTES];
        probe = null;
        long collected = collectionMillis();
        long nanos = System.nanoTime();
        double passedMillis = (nanos - atNanos[i]) / 1e6;
        boolean collecting = collected - collectedMillis[i] > COLLECTING * passedMillis;
        if (atNanos[i] != 0 && collecting && isFull()) {
          end(
              new OutOfMemoryError(
                  "the garbage collector takes all processor time and frees nothing"));
        }
        collectedMillis[i] = collected;
        atNanos[i] = nanos;
        Thread.sleep(collected == before ? QUIET_MILLIS : PROBE_MILLIS);
        before = collected;
      }
    } catch (OutOfMemoryError e) {
      end(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private long collectionMillis() {
    long millis = 0;
    for (int i = 0; i < collectors.size(); i++) {
      millis += collectors.get(i).getCollectionTime();
    }
    return millis;
  }

  private boolean isFull() {
    for (int i = 0; i < old.size(); i++) {
      MemoryUsage left = old.get(i).getCollectionUsage();
      if (left.getMax() > 0 && left.getUsed() > FULL * left.getMax()) {
        return true;
      }
    }
    return false;
  }

  /** Checks everything that is logged, before it is. */
  private final class Logged extends TurboFilter {
    @Override
    public FilterReply decide(
        Marker marker,
        Logger logger,
        Level level,
        String format,
        Object[] params,
        Throwable error) {
      check(error);
      if (params != null) {
        for (Object param : params) {
          if (param instanceof Throwable e) {
            check(e);
          }
        }
      }
      return FilterReply.NEUTRAL;
    }
  }
}
