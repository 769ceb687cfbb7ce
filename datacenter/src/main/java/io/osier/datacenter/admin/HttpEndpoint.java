package io.osier.datacenter.admin;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslHandler;
import io.osier.core.memory.OutOfMemory;
import io.osier.core.net.Network;
import io.osier.core.net.Sockets;
import io.osier.core.net.StrangeProtocol;
import io.osier.core.tls.TlsContext;
import io.osier.core.tls.TlsName;
import io.osier.propagation.net.link.ConnectionGuard;
import io.osier.propagation.net.link.PortGuard;
import io.osier.propagation.net.link.PortLimits;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small HTTP/1.1 server for probes, scrapers and the dashboard: answers GET and HEAD, one request
 * for each connection. No thread waits for a client: a connection that sends half a request, or
 * does not read the answer, is closed after the time limit for greetings. An answer may continue as
 * server-sent events until one of the two sides closes it. Thread-safe.
 */
final class HttpEndpoint implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpEndpoint.class);

  /** Largest head of a request, in bytes. */
  private static final int HEAD_BYTES_MAX = 8 << 10;

  /** Fields of every answer, which forbid browsers to cache it, guess its type, or frame it. */
  private static final String SAID_ALWAYS =
      "Cache-Control: no-store\r\n"
          + "X-Content-Type-Options: nosniff\r\n"
          + "Referrer-Policy: no-referrer\r\n"
          + "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self';"
          + " img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none';"
          + " frame-ancestors 'none'\r\n";

  /**
   * An answer.
   *
   * @param status the HTTP status
   * @param type the content's type
   * @param events takes the stream of events that follow the content; empty if the answer ends with
   *     the content
   */
  record Answer(int status, String type, byte[] content, Optional<Consumer<Events>> events) {
    Answer(int status, String text) {
      this(status, "text/plain; charset=utf-8", text);
    }

    Answer(int status, String type, String text) {
      this(status, type, text.getBytes(StandardCharsets.UTF_8), Optional.empty());
    }

    /** Makes an answer of server-sent events. */
    static Answer events(Consumer<Events> consumer) {
      return new Answer(200, "text/event-stream", NOTHING, Optional.of(consumer));
    }
  }

  private static final byte[] NOTHING = {};

  /** A stream of events. For any thread. */
  static final class Events implements Dashboard.Viewer {
    private final SocketChannel channel;

    private Events(SocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public boolean send(byte[] piece) {
      if (!channel.isWritable()) {
        return false;
      }
      channel.writeAndFlush(Unpooled.wrappedBuffer(piece));
      return true;
    }

    @Override
    public void close() {
      channel.close();
    }

    @Override
    public void whenClosed(Runnable then) {
      channel.closeFuture().addListener(f -> then.run());
    }
  }

  private final Map<String, Supplier<CompletableFuture<Answer>>> paths;
  private final HostNames names;
  private final Optional<AdminAccess> access;
  private final PortLimits limits;
  private final PortGuard port;
  private final Optional<TlsContext> tls;
  private final Network network = Sockets.of("osier-http", 1);
  private final Network.Port server;

  /**
   * Opens the port.
   *
   * @param tls empty for no encryption
   * @param names the host names that requests may use
   * @param access decides who may ask; empty to answer everybody
   * @param paths make the answers, by path; called by a thread that must not block
   */
  HttpEndpoint(
      InetSocketAddress listen,
      PortLimits limits,
      Optional<TlsContext> tls,
      HostNames names,
      Optional<AdminAccess> access,
      Map<String, Supplier<CompletableFuture<Answer>>> paths) {
    this.access = access;
    this.paths = new LinkedHashMap<>(paths);
    this.names = names;
    this.limits = limits;
    this.port = new PortGuard("osier.admin.connections: the port for metrics", limits);
    this.tls = tls;
    try {
      this.server = network.listen(listen, channel -> opened((SocketChannel) channel));
    } catch (Throwable e) {
      network.close();
      throw e;
    }
  }

  private void opened(SocketChannel channel) {
    if (!port.admit(channel)) {
      channel.close();
      return;
    }
    tls.ifPresent(
        t -> channel.pipeline().addLast(t.accept(channel.alloc(), limits.greetingMillis())));
    Exchange exchange = new Exchange(channel);
    channel.pipeline().addLast(exchange.guard, exchange);
  }

  int port() {
    return server.address().getPort();
  }

  /** One connection with its single request. */
  private final class Exchange extends SimpleChannelInboundHandler<ByteBuf> {
    private final SocketChannel channel;
    private final ConnectionGuard guard;
    private final StringBuilder head = new StringBuilder();
    private boolean complete;

    Exchange(SocketChannel channel) {
      super(ByteBuf.class);
      this.channel = channel;
      this.guard = new ConnectionGuard(port, () -> !complete && !head.isEmpty());
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf bytes) {
      if (complete) {
        return; // bytes after the request are ignored
      }
      if (head.isEmpty() && isTls(bytes)) {
        complete = true;
        port.log(
            channel,
            "it speaks TLS, and the port for metrics and the page does not: "
                + "ask by http://, or set osier.tls.admin = true");
        ctx.close();
        return;
      }
      int room = HEAD_BYTES_MAX - head.length();
      head.append(
          bytes.toString(
              bytes.readerIndex(),
              Math.min(room, bytes.readableBytes()),
              StandardCharsets.ISO_8859_1));
      boolean ended = head.indexOf("\n\r\n") >= 0 || head.indexOf("\n\n") >= 0;
      if (ended) {
        begin();
        answer(head.toString());
      } else if (head.length() == HEAD_BYTES_MAX) {
        begin();
        send(new Answer(431, "the request's head is over " + HEAD_BYTES_MAX + " bytes\n"), true);
      }
    }

    private boolean isTls(ByteBuf bytes) {
      int at = bytes.readerIndex();
      return bytes.readableBytes() > 1
          && StrangeProtocol.isTls(bytes.getByte(at), bytes.getByte(at + 1));
    }

    private void begin() {
      complete = true;
      guard.greeted();
    }

    private void answer(String text) {
      try {
        RequestHead asked = RequestHead.parse(text);
        boolean body = !asked.method().equals("HEAD");
        try {
          answer(asked, body);
        } catch (RequestHead.Refused e) {
          refuse(e, body);
        }
      } catch (RequestHead.Refused e) {
        refuse(e, true);
      }
    }

    private void refuse(RequestHead.Refused why, boolean body) {
      send(new Answer(why.status(), why.getMessage() + "\n"), body);
    }

    private void answer(RequestHead asked, boolean body) throws RequestHead.Refused {
      if (asked.host().isPresent() && !names.admit(asked.host().get())) {
        throw new RequestHead.Refused(
            403,
            "the request's Host header has a name that this server does not answer to; if the name"
                + " is its own, add it to osier.admin.names");
      }
      if (body && !asked.method().equals("GET")) {
        throw new RequestHead.Refused(405, "only GET and HEAD are answered");
      }
      Supplier<CompletableFuture<Answer>> path = paths.get(asked.path());
      if (path == null) {
        throw new RequestHead.Refused(404, "there are " + String.join(", ", paths.keySet()));
      }
      if (asked.query().isPresent()) {
        throw new RequestHead.Refused(400, asked.path() + " takes no parameters");
      }
      CompletableFuture<Optional<Answer>> refusal =
          access
              .map(a -> a.refusal(asked, TlsName.ofOtherEnd(channel), channel.remoteAddress()))
              .orElse(CompletableFuture.completedFuture(Optional.empty()));
      refusal
          .thenCompose(
              refused ->
                  refused.map(CompletableFuture::completedFuture).orElseGet(() -> path.get()))
          .whenComplete(
              (answer, error) -> {
                if (error != null) {
                  LOG.error("a fault at {}", asked.path(), error);
                }
                send(
                    error == null ? answer : new Answer(500, "internal error; see the log\n"),
                    body);
              });
    }

    private void send(Answer answer, boolean body) {
      String length =
          answer.events.isPresent() ? "" : "Content-Length: " + answer.content.length + "\r\n";
      String lines =
          "HTTP/1.1 %s\r\nContent-Type: %s\r\n%s%s%sConnection: close\r\n\r\n"
              .formatted(
                  answer.status + " " + reason(answer.status),
                  answer.type,
                  switch (answer.status) {
                    case 401 -> "WWW-Authenticate: Basic realm=\"osier\", charset=\"UTF-8\"\r\n";
                    case 405 -> "Allow: GET, HEAD\r\n";
                    default -> "";
                  },
                  length,
                  SAID_ALWAYS);
      ByteBuf start = Unpooled.copiedBuffer(lines, StandardCharsets.US_ASCII);
      ByteBuf all =
          body ? Unpooled.wrappedBuffer(start, Unpooled.wrappedBuffer(answer.content)) : start;
      if (body && answer.events.isPresent()) {
        channel.writeAndFlush(all);
        answer.events.get().accept(new Events(channel));
        return;
      }
      // The client closes the connection after it has read the answer. Closing it here at once
      // would discard the answer if the client still sends.
      channel.writeAndFlush(all).addListener((ChannelFuture f) -> endOutput());
      channel
          .eventLoop()
          .schedule(() -> channel.close(), limits.greetingMillis(), TimeUnit.MILLISECONDS);
    }

    private static String reason(int status) {
      return switch (status) {
        case 200 -> "OK";
        case 400 -> "Bad Request";
        case 401 -> "Unauthorized";
        case 403 -> "Forbidden";
        case 404 -> "Not Found";
        case 405 -> "Method Not Allowed";
        case 429 -> "Too Many Requests";
        case 431 -> "Request Header Fields Too Large";
        case 503 -> "Service Unavailable";
        default -> "Internal Server Error";
      };
    }

    private void endOutput() {
      SslHandler tls = channel.pipeline().get(SslHandler.class);
      if (tls == null) {
        channel.shutdownOutput();
      } else {
        tls.closeOutbound().addListener(f -> channel.shutdownOutput());
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      OutOfMemory.report(cause);
      ctx.close();
    }
  }

  @Override
  public void close() {
    server.close();
    network.close();
  }
}
