package io.osier.proxy.call;

import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.core.time.TimeLimit;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.proxy.Connection;
import io.osier.proxy.LostException;
import io.osier.proxy.connection.Datacenters;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.future.Calls;
import io.osier.proxy.session.SessionCore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Asks one datacenter about itself, outside of any session. Thread-safe. */
public final class DatacenterQueries {
  private DatacenterQueries() {}

  /** Asks for a partition's version vector: what a datacenter has received from every replica. */
  static CompletableFuture<VersionVector> through(
      Connection at, String keyspace, int partition, long timeoutMillis) {
    return ask(
        at,
        new ProgressRequest.Through(keyspace, partition),
        timeoutMillis,
        false,
        reply -> ((Reply.Through) reply).through());
  }

  /** Asks for a page of a scan. */
  public static CompletableFuture<Reply.Page> page(
      Connection at, ScanRequest scan, long timeoutMillis) {
    return ask(at, scan, timeoutMillis, false, reply -> (Reply.Page) reply);
  }

  /**
   * Sends a request whose answer is a report, one JSON object.
   *
   * @param changes whether the request changes something, so that its outcome is unknown without an
   *     answer
   */
  public static CompletableFuture<String> report(
      Connection at, Request request, Duration timeout, boolean changes) {
    return ask(
        at,
        request,
        Math.max(1, TimeLimit.millis(timeout)),
        changes,
        reply -> ((Reply.Report) reply).json());
  }

  /**
   * Asks for the names of the keyspaces that the datacenter knows, held there or elsewhere, in
   * order.
   */
  public static CompletableFuture<List<String>> keyspaces(Connection at, Duration timeout) {
    return CallFuture.of(
            at.refreshKeyspaces(Math.max(1, TimeLimit.millis(timeout))),
            given -> new LostException(given.code(), true, given.why()))
        .handle(
            (told, error) -> {
              if (error != null) {
                throw Calls.asOsier(error, false);
              }
              return at.allKeyspaces();
            });
  }

  /**
   * Returns the keyspace of a key's home; the given keyspace if it has no homes, is itself a home,
   * or is not known.
   *
   * @param known the datacenters, which have told their keyspaces
   */
  public static String home(Datacenters known, String keyspace, Key key) {
    Partitioning of = known.holders().partitioning(keyspace);
    return of == null || Homes.isHome(keyspace) ? keyspace : of.homes().keyspace(keyspace, key);
  }

  /** Asks the nearest holder of a keyspace for a report about it, one JSON object. */
  public static CompletableFuture<String> inspect(
      SessionCore session, AdminRequest.Inspect request) {
    Call<String> call =
        new Call<>(session, request.keyspace().orElseThrow(), null, false) {
          @Override
          protected Request request(VersionVector after, boolean ordered, int waitMillis) {
            return request;
          }

          @Override
          protected boolean waitsForPast() {
            return false;
          }

          @Override
          protected boolean mayBeForwarded() {
            return false;
          }

          @Override
          protected String result(Reply reply) {
            return ((Reply.Report) reply).json();
          }
        };
    return call.start();
  }

  private static <T> CompletableFuture<T> ask(
      Connection at,
      Request request,
      long timeoutMillis,
      boolean changes,
      Function<Reply, T> answer) {
    return CallFuture.of(
            at.send(request, timeoutMillis),
            given -> new LostException(given.code(), true, given.why()))
        .handle(
            (reply, error) -> {
              if (error != null) {
                throw Calls.asOsier(error, changes);
              }
              if (reply instanceof Reply.Failure f) {
                throw Calls.failed(f, changes);
              }
              try {
                return answer.apply(reply);
              } catch (ClassCastException e) {
                throw Calls.unexpected(reply);
              }
            });
  }
}
