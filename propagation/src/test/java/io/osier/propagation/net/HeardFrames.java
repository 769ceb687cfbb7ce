package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.propagation.wire.Frame;
import io.osier.testing.Patience;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Records the events of a listener, in order: "up us/200", "down us", the numbers of acks,
 * "DUPLICATE_DC".
 */
public class HeardFrames implements PeerListener {
  public final BlockingQueue<String> events = new LinkedBlockingQueue<>();

  public final Map<String, Map<String, String>> differing = new ConcurrentHashMap<>();

  @Override
  public void up(ReplicaId peer, List<String> keyspaces) {
    events.add("up " + peer + (keyspaces.equals(List.of("shop")) ? "" : " " + keyspaces));
  }

  @Override
  public void parted(String dc, List<String> keyspaces) {
    events.add("parted " + dc + " " + keyspaces);
  }

  @Override
  public void compared(String dc, Map<String, String> differences) {
    differing.put(dc, differences);
  }

  @Override
  public void down(String dc) {
    events.add("down " + dc);
  }

  @Override
  public void received(ReplicaId peer, String keyspace, int partition, Frame frame) {
    String what =
        switch (frame) {
          case Frame.Ack ack -> String.valueOf(ack.sequence());
          case Frame.States states ->
              "states of " + states.shipments().getFirst().content().sizeBytes() + " bytes";
          default -> throw new AssertionError(frame);
        };
    events.add(keyspace + "/" + partition + " " + what);
  }

  @Override
  public void noted(ReplicaId peer, byte[] content) {
    events.add("note of " + peer + ": " + content.length + " bytes");
  }

  /** Answers with as many bytes as the first bytes of the request say. */
  @Override
  public void asked(ReplicaId peer, byte[] content, Answers answers) {
    events.add("asked by " + peer + ": " + content.length + " bytes");
    answers.send(
        new byte[ByteBuffer.wrap(content).getInt()], () -> events.add("the answer has left"));
  }

  @Override
  public void answered(ReplicaId peer, byte[] content) {
    events.add("answer of " + peer + ": " + content.length + " bytes");
  }

  @Override
  public void second(String dc, String why) {
    events.add("second to " + dc + ": " + why);
  }

  @Override
  public void secondEnds(String dc) {
    events.add("second no more to " + dc);
  }

  @Override
  public void rejected(String dc, OsierException why) {
    events.add(why.code() + " " + why.reason());
  }

  public String next() throws InterruptedException {
    String event = events.poll(Patience.SECONDS, TimeUnit.SECONDS);
    assertThat(event).as("an event in time").isNotNull();
    return event;
  }

  /** Returns the events that were recorded and not taken yet. */
  public List<String> all() {
    List<String> all = new ArrayList<>();
    events.drainTo(all);
    return all;
  }
}
