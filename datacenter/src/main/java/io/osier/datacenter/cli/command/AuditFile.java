package io.osier.datacenter.cli.command;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.recovery.RecoveryListener;
import ch.qos.logback.core.recovery.ResilientOutputStreamBase;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeAndTimeBasedRollingPolicy;
import ch.qos.logback.core.util.FileSize;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.LogInterval;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.LoggerFactory;

/**
 * Writes the audit log to a file of its own: one JSON object on each line, a new file each day and
 * at 64 MiB, of which 30 are kept. A thread of its own writes it, and no caller waits for the disk:
 * lines for which the queue has no room, and lines that the disk refuses, are lost, counted and
 * mentioned in the log; when lines are written again, one of them says how many are missing.
 * Thread-safe.
 */
final class AuditFile implements AutoCloseable {
  private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(AuditFile.class);
  private static final String LOGGER = "io.osier.audit";

  /** The least time between two log lines about losses. */
  private static final Duration LOGGED = Duration.ofSeconds(10);

  private static final int QUEUE = 8_192;
  private static final long FILE_BYTES_MAX = 64L << 20;
  private static final int FILES_KEPT = 30;

  private final Logger logger;
  private final Queue before;
  private final Losses losses;

  private AuditFile(Logger logger, Queue before, Losses losses) {
    this.logger = logger;
    this.before = before;
    this.losses = losses;
  }

  /** Counts lost lines, and logs losses. */
  private static final class Losses {
    private final AtomicLong inQueue = new AtomicLong();
    private final AtomicLong atDisk = new AtomicLong();
    private final LogInterval logged = new LogInterval(LOGGED);

    long all() {
      return inQueue.get() + atDisk.get();
    }

    void lost(AtomicLong where, String why) {
      where.incrementAndGet();
      if (logged.tryPass()) {
        LOG.warn("lines of the audit log are lost, {} so far: {}", all(), why);
      }
    }
  }

  /** The queue of lines that wait for the disk. */
  private static final class Queue extends AsyncAppender {
    private final Losses losses;

    Queue(Losses losses) {
      this.losses = losses;
    }

    @Override
    protected void append(ILoggingEvent line) {
      if (!offered(line)) {
        losses.lost(losses.inQueue, "the disk is too slow, and " + QUEUE + " lines wait for it");
      }
    }

    /**
     * Adds a line if there is room; synchronized so that the room is still there when the line is
     * added.
     */
    private synchronized boolean offered(ILoggingEvent line) {
      if (getRemainingCapacity() == 0) {
        return false;
      }
      super.append(line);
      return true;
    }
  }

  /** The writer of the file; used by one thread. */
  private static final class Lines extends RollingFileAppender<ILoggingEvent>
      implements RecoveryListener {
    private final Losses losses;
    private final Logger logger;
    private final String dc;
    private String why = ""; // why lines are not written; empty if they are
    private long told;

    Lines(Losses losses, Logger logger, String dc) {
      this.losses = losses;
      this.logger = logger;
      this.dc = dc;
    }

    @Override
    public void openFile(String name) throws IOException {
      super.openFile(name);
      if (getOutputStream() instanceof ResilientOutputStreamBase stream) {
        stream.addRecoveryListener(this);
      }
    }

    @Override
    public void newFailure(IOException e) {
      why = String.valueOf(e.getMessage());
    }

    @Override
    public void recoveryOccured() {
      why = "";
    }

    /**
     * Writes a line. The appender throws nothing if the disk refuses it, but drops the line and
     * tries to recover later.
     */
    @Override
    protected void subAppend(ILoggingEvent line) {
      super.subAppend(line);
      if (!why.isEmpty()) {
        losses.lost(losses.atDisk, why);
        return;
      }
      long now = losses.all();
      if (now > told) {
        super.subAppend(lost(now - told));
        if (why.isEmpty()) {
          told = now;
        }
      }
    }

    private ILoggingEvent lost(long lines) {
      String text =
          "{\"time\":\"%s\",\"event\":\"lost\",\"dc\":\"%s\",\"lines\":%d}"
              .formatted(Instant.now(), dc, lines);
      return new LoggingEvent(AuditFile.class.getName(), logger, Level.INFO, text, null, null);
    }
  }

  /**
   * Begins to write.
   *
   * @param dc the datacenter's name
   * @throws OsierException CONFIGURATION if the file cannot be written
   */
  static AuditFile open(Path file, String dc) {
    checkWritable(file);
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern("%msg%n");
    encoder.start();
    Losses losses = new Losses();
    Lines to = new Lines(losses, context.getLogger(LOGGER), dc);
    to.setContext(context);
    to.setName("audit");
    to.setFile(file.toString());
    to.setEncoder(encoder);
    SizeAndTimeBasedRollingPolicy<ILoggingEvent> rolling = new SizeAndTimeBasedRollingPolicy<>();
    rolling.setContext(context);
    rolling.setParent(to);
    rolling.setFileNamePattern(file + ".%d{yyyy-MM-dd}.%i.gz");
    rolling.setMaxFileSize(new FileSize(FILE_BYTES_MAX));
    rolling.setMaxHistory(FILES_KEPT);
    rolling.setTotalSizeCap(new FileSize(FILES_KEPT * FILE_BYTES_MAX));
    rolling.start();
    to.setRollingPolicy(rolling);
    to.start();
    Queue before = new Queue(losses);
    before.setContext(context);
    before.setQueueSize(QUEUE);
    before.setDiscardingThreshold(0);
    before.setNeverBlock(true);
    before.addAppender(to);
    before.start();
    Logger logger = context.getLogger(LOGGER);
    logger.setAdditive(false);
    logger.setLevel(Level.INFO);
    logger.addAppender(before);
    return new AuditFile(logger, before, losses);
  }

  /** Returns how many lines were lost, by reason. */
  Map<String, Long> lost() {
    return Map.of("queue", losses.inQueue.get(), "disk", losses.atDisk.get());
  }

  private static void checkWritable(Path file) {
    try {
      Path parent = file.toAbsolutePath().getParent();
      if (parent != null) {
        Files.createDirectories(parent);
      }
      if (!Files.exists(file)) {
        Files.createFile(file);
      }
      if (!Files.isWritable(file)) {
        throw new IOException("this process may not write to it");
      }
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.audit.file: " + file + " cannot be written (" + e.getMessage() + ")",
          e);
    }
  }

  /** Writes the waiting lines, and ends. */
  @Override
  public void close() {
    logger.detachAppender(before);
    before.stop();
    int left = before.getNumberOfElementsInQueue();
    if (left > 0) {
      LOG.warn("the last {} lines of the audit log are lost: the disk is too slow", left);
    }
  }
}
