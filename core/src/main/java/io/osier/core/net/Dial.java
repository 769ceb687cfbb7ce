package io.osier.core.net;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.ConnectException;
import java.net.IDN;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Opens one connection to a host that may have several addresses, some of which are dead. It tries
 * them in their order; the next one as soon as one has refused, or does not answer within a quarter
 * of a second (RFC 8305). The first address that connects wins. Works in one loop.
 */
final class Dial {
  /** How long an address is tried alone. */
  static final int HEAD_START_MILLIS = 250;

  /** Finds a host's addresses. May block for long. */
  interface Lookup {
    InetAddress[] all(String host) throws UnknownHostException;
  }

  private final EventLoop loop;
  private final InetSocketAddress to;
  private final int timeoutMillis;
  private final Consumer<Channel> begun;
  private final Consumer<Channel> opening;
  private final Consumer<Throwable> failed;

  private final Deque<InetSocketAddress> left = new ArrayDeque<>();
  private final Set<Channel> trying = new LinkedHashSet<>();
  private final List<String> tried = new ArrayList<>();
  private final List<Throwable> troubles = new ArrayList<>();
  private @Nullable ScheduledFuture<?> limit;
  private boolean done;

  /**
   * See {@link Network#dial}.
   *
   * @param begun is given each attempt when it begins
   */
  Dial(
      EventLoop loop,
      InetSocketAddress to,
      int timeoutMillis,
      Consumer<Channel> begun,
      Consumer<Channel> opening,
      Consumer<Throwable> failed) {
    this.loop = loop;
    this.to = to;
    this.timeoutMillis = timeoutMillis;
    this.begun = begun;
    this.opening = opening;
    this.failed = failed;
  }

  /** Begins. A thread of its own looks the name up, since the system may block it. */
  void start(Lookup lookup) {
    inLoop(() -> limit = loop.schedule(this::tooLate, timeoutMillis, TimeUnit.MILLISECONDS));
    Thread.ofPlatform()
        .daemon()
        .name("osier-lookup")
        .start(
            () -> {
              try {
                InetAddress[] all = lookup.all(IDN.toASCII(host()));
                inLoop(() -> found(all));
              } catch (UnknownHostException e) {
                inLoop(() -> end(unknown(e)));
              } catch (RuntimeException e) {
                inLoop(() -> end(e));
              }
            });
  }

  /**
   * Returns an error with words of Osier's own: the system's differ from one lookup to the next.
   */
  private UnknownHostException unknown(UnknownHostException cause) {
    UnknownHostException unknown =
        new UnknownHostException("the host name cannot be resolved: " + host());
    unknown.initCause(cause);
    return unknown;
  }

  private void inLoop(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      // The loops have ended, so nothing is begun any more.
    }
  }

  private void found(InetAddress[] all) {
    for (InetAddress address : all) {
      left.add(new InetSocketAddress(address, to.getPort()));
    }
    next();
  }

  private void next() {
    if (done || left.isEmpty() || loop.isShuttingDown()) {
      return; // a loop that ends takes no task of a new connection
    }
    InetSocketAddress at = left.remove();
    tried.add(new HostPort(at.getAddress().getHostAddress(), at.getPort()).toString());
    ChannelFuture connecting =
        new Bootstrap()
            .group(loop)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.AUTO_READ, false) // until a handler reads
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMillis)
            .handler(new Connected())
            .connect(at);
    trying.add(connecting.channel());
    begun.accept(connecting.channel());
    int number = tried.size();
    if (!left.isEmpty()) {
      loop.schedule(() -> nextAfter(number), HEAD_START_MILLIS, TimeUnit.MILLISECONDS);
    }
    connecting.addListener(f -> answered(connecting, number));
  }

  /** Tries the next address, if this attempt is the last that was begun. */
  private void nextAfter(int number) {
    if (tried.size() == number) {
      next();
    }
  }

  private void answered(ChannelFuture connecting, int number) {
    trying.remove(connecting.channel());
    if (done || connecting.isSuccess()) {
      return;
    }
    troubles.add(connecting.cause());
    nextAfter(number);
    if (left.isEmpty() && trying.isEmpty()) {
      end(inOne(troubles));
    }
  }

  /** Adds the handlers to the connection, if it is the first. */
  private final class Connected extends ChannelInboundHandlerAdapter {
    @Override
    public void channelActive(ChannelHandlerContext ctx) {
      if (done) {
        ctx.close();
        return;
      }
      trying.remove(ctx.channel());
      stop();
      try {
        opening.accept(ctx.channel());
      } catch (RuntimeException e) {
        ctx.close();
        failed.accept(e);
        return;
      }
      ctx.fireChannelActive();
      ctx.pipeline().remove(this);
      ctx.channel().config().setAutoRead(true);
    }
  }

  private Throwable inOne(List<Throwable> all) {
    Throwable first = all.getFirst();
    if (all.size() == 1) {
      return first;
    }
    String words =
        all.stream()
            .map(t -> String.valueOf(t.getMessage()))
            .sorted() // the same words each time
            .collect(Collectors.joining("; "));
    String why = "none of the addresses of " + host() + " can be reached: " + words;
    IOException none =
        all.stream().allMatch(ConnectException.class::isInstance)
            ? new ConnectException(why)
            : new IOException(why);
    none.initCause(first);
    return none;
  }

  private void tooLate() {
    end(
        new ConnectTimeoutException(
            tried.isEmpty()
                ? "the name %s was not found within %d ms".formatted(host(), timeoutMillis)
                : "no connection to %s (%s) within %d ms"
                    .formatted(
                        host(),
                        tried.stream().sorted().collect(Collectors.joining(", ")),
                        timeoutMillis)));
  }

  private String host() {
    return to.getHostString();
  }

  private void end(Throwable why) {
    if (!done) {
      stop();
      failed.accept(why);
    }
  }

  private void stop() {
    done = true;
    left.clear();
    if (limit != null) {
      limit.cancel(false); // else it would stay in the loop's queue until its time
    }
    List.copyOf(trying).forEach(Channel::close);
  }
}
