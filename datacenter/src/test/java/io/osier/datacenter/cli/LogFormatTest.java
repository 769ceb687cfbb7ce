package io.osier.datacenter.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.status.Status;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The program's log, as text and as JSON. */
class LogFormatTest {
  private static String line(String format) throws Exception {
    LoggerContext context = new LoggerContext();
    if (!format.isEmpty()) {
      context.putProperty("OSIER_LOG_FORMAT", format);
    }
    JoranConfigurator reader = new JoranConfigurator();
    reader.setContext(context);
    reader.doConfigure(LogFormatTest.class.getResource("/io/osier/datacenter/cli/logging.xml"));
    // With any, Logback prints all that it has done on standard output, before what a command says.
    assertThat(context.getStatusManager().getCopyOfStatusList())
        .as("complaints of the configuration")
        .allMatch(status -> status.getLevel() == Status.INFO);
    ConsoleAppender<ILoggingEvent> appender =
        (ConsoleAppender<ILoggingEvent>) context.getLogger("ROOT").iteratorForAppenders().next();
    LoggingEvent event =
        new LoggingEvent(
            "",
            context.getLogger("io.osier.Some"),
            Level.WARN,
            "{} went\nwrong",
            new IllegalStateException("why"),
            new Object[] {"it"});
    event.setMDCPropertyMap(Map.of("dc", "eu", "keyspace", "shop"));
    String text = new String(appender.getEncoder().encode(event), StandardCharsets.UTF_8);
    context.stop();
    return text;
  }

  @Test
  void json_isAnObjectALine_withDatacenterAndKeyspace() throws Exception {
    String line = line("json");
    assertThat(line.strip()).doesNotContain("\n");
    JsonNode event = new ObjectMapper().readTree(line);
    assertThat(event.get("level").asText()).isEqualTo("WARN");
    assertThat(event.get("formattedMessage").asText()).isEqualTo("it went\nwrong");
    assertThat(event.get("loggerName").asText()).isEqualTo("io.osier.Some");
    assertThat(event.get("mdc").get("dc").asText()).isEqualTo("eu");
    assertThat(event.get("mdc").get("keyspace").asText()).isEqualTo("shop");
    assertThat(event.get("throwable").get("message").asText()).isEqualTo("why");
    assertThat(event.get("timestamp").asLong()).isPositive();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "text"})
  void text_isForPeople(String format) throws Exception {
    assertThat(line(format)).contains("WARN ", "Some", "it went");
  }
}
