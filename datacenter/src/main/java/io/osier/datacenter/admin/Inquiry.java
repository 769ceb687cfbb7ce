package io.osier.datacenter.admin;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.net.HostPort;
import io.osier.datacenter.metrics.report.JsonObject;
import io.osier.protocol.AdminRequest;
import java.net.InetSocketAddress;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * Answers {@code why} requests (why data is late, or shipped as it is) with the reports of all
 * reachable datacenters about a key, or about themselves. Thread-safe.
 */
public final class Inquiry {
  private static final String KEYSPACE = "keyspace";

  private static final String STATUS = "status";
  private static final String OF_KEY = "key";

  private final String self;
  private final ClusterQuestions questions;
  private final Supplier<Map<String, InetSocketAddress>> addresses;

  /**
   * Makes it.
   *
   * @param addresses returns the addresses at which the others are dialled, by name
   */
  public Inquiry(
      String self, ClusterQuestions questions, Supplier<Map<String, InetSocketAddress>> addresses) {
    this.self = self;
    this.questions = questions;
    this.addresses = addresses;
  }

  /**
   * Answers a question of this datacenter or of another one.
   *
   * @param status makes this datacenter's status, as JSON
   * @param key reports what is known of a key of a keyspace, as JSON
   */
  public static CompletableFuture<String> answer(
      String question,
      Supplier<CompletableFuture<String>> status,
      BiFunction<String, Key, CompletableFuture<String>> key) {
    String[] words = question.split(" ", -1);
    if (question.equals(STATUS)) {
      return status.get();
    }
    try {
      if (words.length == 3 && words[0].equals(OF_KEY)) {
        return key.apply(words[1], Key.of(Base64.getUrlDecoder().decode(words[2])));
      }
    } catch (IllegalArgumentException e) { // not base 64, or not a key
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "the question cannot be decoded (is that datacenter of another version?)",
          e);
    }
    throw new OsierException(
        ErrorCode.INVALID_ARGUMENT,
        "the question cannot be decoded (is that datacenter of another version?)");
  }

  /**
   * Adds to an answer the addresses at which the answering datacenter dials the others; they may
   * differ from one datacenter to another.
   */
  public static String withAddresses(String answer, Map<String, InetSocketAddress> peers) {
    JsonObject addresses = new JsonObject();
    peers.forEach((dc, at) -> addresses.put(dc, text(at)));
    return "{\"addresses\":" + addresses + "," + answer.substring(1);
  }

  private static String text(InetSocketAddress at) {
    return new HostPort(at.getHostString(), at.getPort()).toString();
  }

  /**
   * Asks all datacenters.
   *
   * @param request see {@link AdminRequest.Administer#asksWhy}
   * @return one JSON object
   */
  public CompletableFuture<String> ask(AdminRequest.Administer request) {
    String keyspace = request.settings().get(KEYSPACE);
    String question =
        keyspace == null ? STATUS : String.join(" ", OF_KEY, keyspace, request.name());
    try {
      return questions.ask(question).thenApply(this::report);
    } catch (OsierException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private String report(Map<String, String> answers) {
    JsonObject root = new JsonObject();
    root.put("dc", self);
    JsonObject.Array peers = root.putArray("peers");
    new TreeMap<>(addresses.get())
        .forEach(
            (dc, address) ->
                peers
                    .addObject()
                    .put("dc", dc)
                    .put("address", text(address))
                    .put("answers", answers.containsKey(dc)));
    JsonObject.Array all = root.putArray("answers");
    // As text, so that a peer's JSON cannot break out of its place.
    answers.forEach((dc, text) -> all.addObject().put("dc", dc).put("text", text));
    return root.toString();
  }
}
