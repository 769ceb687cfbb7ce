package io.osier.datacenter.server;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** What a class, or those of a package, log until this is closed. */
public final class LoggedLines implements AutoCloseable {
  private final Logger log;
  private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

  /** Begins to listen to the logger of this name, and those below it. */
  public LoggedLines(String name) {
    log = (Logger) LoggerFactory.getLogger(name);
    appender.start();
    log.addAppender(appender);
  }

  /** Keeps them out of the tests' output until this is closed: faults that a test provokes. */
  public LoggedLines quietly() {
    log.setAdditive(false);
    return this;
  }

  public List<String> all() {
    synchronized (appender) {
      return appender.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }
  }

  @Override
  public void close() {
    log.detachAppender(appender);
    log.setAdditive(true);
  }
}
