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
 * what helps. A process that went on would take connections and answer nothing. Thread-safe.
 *
 * <p>Java's own option for that (ExitOnOutOfMemoryError) says nothing of what helps, cannot be
 * switched on by the program, and does not see memory outside the heap run out. An OutOfMemoryError
 * can come to any thread, and whoever runs the thread may swallow it. So it is looked for
 *
 * <ul>
 *   <li>where nobody catches it: the default handler of uncaught exceptions, to which {@link
 *       OutOfMemory#report} also leads;
 *   <li>in all that is logged: what Netty's loops swallow, they log;
 *   <li>by a thread that asks for a little memory again and again: it gets none while the heap is
 *       full, whoever keeps silent about it;
 *   <li>in the time that collecting takes: a heap in which hardly anything can be freed is
 *       collected all the time, long before an error is thrown.
 * </ul>
 *
 * <p>Nothing that the end needs is allocated then.
 */
final class OutOfMemoryExit {
  /** As of Java's own option. */
  static final int EXIT_CODE = 3;

  private static final int PROBE_BYTES = 256 << 10;
  private static final long PROBE_MILLIS = 250;

  /** The pause where nothing was collected since the last probe. */
  private static final long QUIET_MILLIS = 1_000;

  /** Probes over which the time of collections is measured: ten seconds while there are some. */
  private static final int WINDOW = 40;

  /** Collecting takes this part of the time, and leaves this part of the old objects' space. */
  private static final double COLLECTING = 0.9;

  private static final double FULL = 0.95;

  private final byte[] lastLine;
  private final AtomicBoolean ending = new AtomicBoolean();
  private final FileOutputStream err = new FileOutputStream(FileDescriptor.err);
  private final List<GarbageCollectorMXBean> collectors =
      ManagementFactory.getGarbageCollectorMXBeans();
  private final List<MemoryPoolMXBean> old =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(MemoryPoolMXBean::isUsageThresholdSupported) // not where objects are born
          .filter(p -> p.getCollectionUsage() != null)
          .toList();

  /** Written so that the probe is not optimised away. */
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
    exit.check(new IllegalStateException()); // loads what the end needs
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
        // Nobody can be told.
      } finally {
        Runtime.getRuntime().halt(EXIT_CODE);
      }
    }
  }

  /** Which memory it is, if there is enough of it to say so. */
  private void say(Throwable why) {
    try {
      err.write((why + System.lineSeparator()).getBytes(StandardCharsets.UTF_8));
    } catch (IOException | OutOfMemoryError e) {
      // The last line must do.
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
          end(new OutOfMemoryError("collecting garbage takes all the time and frees nothing"));
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

  /** Sees all that is logged, before it is. */
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
