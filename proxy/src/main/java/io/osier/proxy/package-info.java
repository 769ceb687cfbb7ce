/**
 * The client library: what an application uses to talk to Osier.
 *
 * <pre>{@code
 * try (OsierClient client = Osier.connect("eu=eu.example:7400", "us=us.example:7400")) {
 *   Session session = client.session();
 *   Keyspace shop = session.keyspace("shop");
 *   shop.counter("likes:42").increment(1);
 *   shop.set("cart:7").add("book");
 *   long likes = shop.counter("likes:42").get();
 * }
 * }</pre>
 *
 * <p><b>Where requests go.</b> A client keeps one connection to each datacenter, measures its round
 * trip, and sends a session's requests to the nearest datacenter that is up. If that is lost the
 * session moves to the next one, and moves back when the nearest has returned.
 *
 * <p><b>What a session guarantees</b>, across such moves: it reads its own writes; it never loses
 * sight of an update that it has seen once; its writes take effect in their order, after everything
 * that it had read. The session remembers what it has seen, and a datacenter that has not yet
 * received all of that waits for it before it answers; when the time limit is near it answers with
 * SESSION_BEHIND. If a datacenter lost its data before it had shipped an update that the session
 * saw, no datacenter has the update, and calls fail with SESSION_LOST. {@link
 * io.osier.proxy.Session#forget} gives the guarantees up and starts anew.
 *
 * <p><b>Transactions.</b> In a {@code causal} keyspace {@link io.osier.proxy.Keyspace#begin} opens
 * a {@link io.osier.proxy.Transaction}: it has the same handles, reads one snapshot, and its
 * updates become visible together when it commits. {@link io.osier.proxy.Keyspace#readTogether} and
 * {@link io.osier.proxy.Keyspace#updateTogether(java.util.List)} are transactions in one request.
 *
 * <pre>{@code
 * try (Transaction tx = bank.begin()) {
 *   tx.boundedCounter("account:ada").decrement(5);
 *   tx.boundedCounter("account:bob").increment(5);
 *   tx.commit();
 * }
 * }</pre>
 *
 * <p><b>Many objects.</b> {@link io.osier.proxy.Keyspace#getAll} and {@link
 * io.osier.proxy.Keyspace#updateAll(java.util.List)} send many calls in one request for each
 * partition; each call has its own outcome ({@link io.osier.proxy.BatchException}). {@link
 * io.osier.proxy.ObjectSpace#scan} reads objects in the order of their keys, as a stream, or with
 * {@link io.osier.proxy.ObjectSpace#publish} for subscribers that request as many as they want;
 * {@link io.osier.proxy.ObjectSpace#count} counts them, and {@link
 * io.osier.proxy.ObjectSpace#exists} and {@link io.osier.proxy.ObjectSpace#type} ask about one key,
 * without its value. In a transaction these calls read its snapshot.
 *
 * <pre>{@code
 * Map<String, Found> carts = shop.getAll(List.of("cart:7", "cart:8"));
 * try (Stream<Row> rows = shop.scan(Scan.prefix("cart:"))) {
 *   rows.forEach(row -> System.out.println(row.key() + " " + row.value()));
 * }
 * long users = shop.count(Scan.prefix("user:"));
 * }</pre>
 *
 * <p><b>Objects.</b> {@link io.osier.proxy.ObjectSpace#register(String, Class)} and the like make
 * handles for objects of a program's own classes, in registers, sets and map fields; {@link
 * io.osier.proxy.ObjectSpace#map(String, Class)} maps a record's components to a map's fields.
 * {@link io.osier.proxy.OsierClient.Builder#values} chooses the objects' encoding.
 *
 * <p><b>Three outcomes.</b> An update is done (the call returns), or failed for certain ({@link
 * io.osier.core.OsierException}, nothing was done), or its outcome is unknown ({@link
 * io.osier.proxy.OutcomeUnknownException}: the connection was lost or the time ran out after it was
 * sent, or the datacenter itself cannot tell). The exception's type says which; its code says why.
 * A call that the client can see to be invalid fails before it is sent, and an update is not sent
 * when no time is left for its answer. Reads, and updates that were never sent, are tried again at
 * other datacenters within the time limit. An update of unknown outcome is never sent again, except
 * a transaction's commit, which its datacenter recognizes.
 *
 * <p><b>Giving up.</b> A call is given up when its future is cancelled or completed by the caller,
 * and when the thread that waits in a synchronous call is interrupted; that call ends at once with
 * CANCELLED, and the thread stays interrupted. A given-up call is not sent if it was not sent yet,
 * and not tried again, and no longer counts as under way. Futures that were derived from a call's
 * future stand for it: the call is given up when the last of them is.
 *
 * <p>Each operation has a synchronous form and one that returns a {@code CompletableFuture} and
 * whose name ends in Async. All classes are thread-safe unless they say otherwise.
 *
 * <p><b>Back-pressure.</b> At most {@link io.osier.proxy.OsierClient.Builder#inFlightMax} calls of
 * a client are under way. A thread that makes a further call, also an asynchronous one, waits until
 * an earlier call has ended, within the call's time limit; then the call fails with OVERLOADED, and
 * nothing was sent. The steps of a transaction count as calls, also while they wait for earlier
 * steps; its abort does not count.
 *
 * <p><b>Callbacks</b> (functions attached to a call's future) run in the thread that delivers the
 * answer: the client's own thread or, with a datacenter in the process, a thread of the datacenter
 * or of another caller. So a callback must not wait, and must not take a lock that the program
 * holds while it calls the client; long work belongs on an executor ({@code thenApplyAsync}). Calls
 * made by callbacks or by Netty's threads never wait for the limit of calls under way. A
 * synchronous call there fails with INVALID_ARGUMENT if it would wait for its own thread.
 */
@NullMarked
package io.osier.proxy;

import org.jspecify.annotations.NullMarked;
