package io.osier.datacenter.redis.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.osier.testing.Patience;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** A client that writes and reads bytes of the Redis protocol by itself. */
final class RawRedis implements AutoCloseable {
  private final Socket socket;
  private final InputStream in;

  RawRedis(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout((int) Patience.LIMIT.toMillis()); // only a hang is a failure
    in = new BufferedInputStream(socket.getInputStream());
  }

  /** Sends text of one byte a character. */
  void send(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(ISO_8859_1));
  }

  /** Sends a command for each text, of words between blanks, all at once. */
  void commands(String... commands) throws IOException {
    StringBuilder all = new StringBuilder();
    for (String command : commands) {
      String[] words = command.split(" ");
      all.append('*').append(words.length).append("\r\n");
      for (String word : words) {
        all.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
      }
    }
    send(all.toString());
  }

  /** Sends a command and reads its answer. */
  String ask(String command) throws IOException {
    commands(command);
    return read();
  }

  /** The answers to commands that are sent at once. */
  List<String> askAll(String... commands) throws IOException {
    commands(commands);
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < commands.length; i++) {
      answers.add(read());
    }
    return answers;
  }

  /** Drops what was pushed so far to a client of RESP3. */
  void dropPushed() throws IOException {
    commands("PING");
    while (!read().equals("+PONG")) {}
  }

  /**
   * Reads what is pushed until the client's cache is told to forget a key: by its name, or with all
   * others, where what has changed is not known.
   */
  void awaitForgotten(String key) throws IOException {
    while (!read().matches(">\\[invalidate, (_|\\[(.*, )?" + key + "(, .*)?])]")) {}
  }

  /** Reads a line, without its end. */
  String readLine() throws IOException {
    StringBuilder line = new StringBuilder();
    int b;
    while ((b = in.read()) != '\n') {
      if (b < 0) {
        throw new EOFException("the connection has ended behind '" + line + "'");
      }
      line.append((char) b);
    }
    return line.substring(0, line.length() - 1);
  }

  /**
   * Reads an answer: of bulks the content, of several a list (behind > if it was pushed), of all
   * else the line.
   *
   * @throws EOFException if the connection has ended
   */
  String read() throws IOException {
    String head = readLine();
    switch (head.charAt(0)) {
      case '$' -> {
        int length = Integer.parseInt(head.substring(1));
        if (length < 0) {
          return "null";
        }
        byte[] content = in.readNBytes(length + 2);
        return new String(content, 0, length, ISO_8859_1);
      }
      case '*', '%', '~', '>' -> {
        int count = Integer.parseInt(head.substring(1)) * (head.charAt(0) == '%' ? 2 : 1);
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
          parts.add(read());
        }
        return (head.charAt(0) == '>' ? ">" : "") + parts;
      }
      default -> {
        return head;
      }
    }
  }

  /** Whether the connection has ended; waits until it has, or something comes. */
  boolean hasEnded() throws IOException {
    return in.read() < 0;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
