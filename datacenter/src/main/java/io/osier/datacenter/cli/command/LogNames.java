package io.osier.datacenter.cli.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.slf4j.Marker;

/** Gives every line of the log the datacenter's name, whichever thread writes it. */
final class LogNames extends TurboFilter {
  private final String dc;

  private LogNames(String dc) {
    this.dc = dc;
  }

  /** Starts to add the name to all lines, if the log is logback's. */
  static void install(String dc) {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      context.addTurboFilter(new LogNames(dc));
    }
  }

  @Override
  public FilterReply decide(
      Marker marker, Logger logger, Level level, String format, Object[] params, Throwable t) {
    if (level.isGreaterOrEqual(logger.getEffectiveLevel()) && !dc.equals(MDC.get("dc"))) {
      MDC.put("dc", dc);
    }
    return FilterReply.NEUTRAL;
  }
}
