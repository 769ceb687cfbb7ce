package io.osier.propagation.net;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.osier.core.ReplicaId;
import io.osier.core.net.Sockets;
import io.osier.propagation.net.link.PortLimits;
import io.osier.testing.Opened;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.slf4j.LoggerFactory;

/** Transports over real sockets on loopback. */
abstract class TransportFixture {
  static final ReplicaId EU = new ReplicaId("eu", 100);
  static final ReplicaId US = new ReplicaId("us", 200);
  static final long START = 77;
  static final List<String> POLICIES = List.of("shop{partitions=2}");

  @AutoClose final Opened open = new Opened();

  static InetSocketAddress at(int port) {
    return new InetSocketAddress("127.0.0.1", port);
  }

  PeerTransport transport(ReplicaId self, int port, String peer, int peerPort, HeardFrames heard) {
    return transport(self, port, peer, peerPort, POLICIES, heard);
  }

  PeerTransport transport(
      ReplicaId self,
      int port,
      String peer,
      int peerPort,
      List<String> policies,
      HeardFrames heard) {
    ProcessIdentity process = new ProcessIdentity(self, "test", START, List.of());
    return transport(process, port, Map.of(peer, at(peerPort)), policies, heard);
  }

  PeerTransport transport(
      ProcessIdentity self,
      int port,
      Map<String, InetSocketAddress> peers,
      List<String> policies,
      HeardFrames heard) {
    return open.add(
        new PeerTransport(
            self,
            at(port),
            peers,
            dc -> policies,
            PortLimits.DEFAULT,
            heard,
            Optional.empty(),
            Sockets.of("osier-peers", 1)));
  }

  /** Returns the list to which the logger's lines are added from now on until the test ends. */
  List<ILoggingEvent> logged(String name) {
    return logged(name, open);
  }

  static List<ILoggingEvent> logged(String name, Opened open) {
    Logger log = (Logger) LoggerFactory.getLogger(name);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.list = new CopyOnWriteArrayList<>(); // others may log while the list is read
    lines.start();
    log.addAppender(lines);
    open.add(() -> log.detachAppender(lines));
    return lines.list;
  }
}
