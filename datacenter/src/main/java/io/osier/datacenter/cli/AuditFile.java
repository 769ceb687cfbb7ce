package io.osier.datacenter.cli;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeAndTimeBasedRollingPolicy;
import ch.qos.logback.core.util.FileSize;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;

/**
 * Leads what is noted for auditors to a file of its own: a JSON object a line, a new file each day
 * and at 64 MiB, of which 30 are kept. A thread of its own writes it, and nobody waits for the
 * disk: what finds no room in front of it is left out.
 */
final class AuditFile implements AutoCloseable {
  private static final String LOGGER = "io.osier.audit";
  private static final int QUEUE = 8_192;
  private static final long FILE_BYTES_MAX = 64L << 20;
  private static final int FILES_KEPT = 30;

  private final Logger logger;
  private final AsyncAppender before;

  private AuditFile(Logger logger, AsyncAppender before) {
    this.logger = logger;
    this.before = before;
  }

  /**
   * Begins to write.
   *
   * @throws OsierException CONFIGURATION if the file cannot be written
   */
  static AuditFile open(Path file) {
    checkWritable(file);
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern("%msg%n");
    encoder.start();
    RollingFileAppender<ILoggingEvent> to = new RollingFileAppender<>();
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
    AsyncAppender before = new AsyncAppender();
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
    return new AuditFile(logger, before);
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
        throw new IOException("it is not writable");
      }
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.audit.file: " + file + " cannot be written (" + e.getMessage() + ")",
          e);
    }
  }

  /** Writes what waits, and ends. */
  @Override
  public void close() {
    logger.detachAppender(before);
    before.stop();
  }
}
