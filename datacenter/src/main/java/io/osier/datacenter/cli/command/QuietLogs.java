package io.osier.datacenter.cli.command;

import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Logger;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.NOPLogger;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * An SLF4J provider that logs nothing, for commands that print all their messages: reading
 * Logback's configuration would take a third of such a command's processor time. It has a factory
 * of its own, because Netty takes SLF4J's no-op factory for a sign that SLF4J is missing, and
 * searches all jars for other libraries.
 */
public final class QuietLogs implements SLF4JServiceProvider, ILoggerFactory {
  private final IMarkerFactory markers = new BasicMarkerFactory();
  private final MDCAdapter context = new NOPMDCAdapter();

  /** Makes SLF4J use this, if it has not chosen another provider yet. */
  public static void install() {
    System.setProperty("slf4j.provider", QuietLogs.class.getName());
    System.setProperty("slf4j.internal.verbosity", "WARN");
  }

  @Override
  public Logger getLogger(String name) {
    return NOPLogger.NOP_LOGGER;
  }

  @Override
  public ILoggerFactory getLoggerFactory() {
    return this;
  }

  @Override
  public IMarkerFactory getMarkerFactory() {
    return markers;
  }

  @Override
  public MDCAdapter getMDCAdapter() {
    return context;
  }

  @Override
  public String getRequestedApiVersion() {
    return "2.0.99";
  }

  @Override
  public void initialize() {}
}
