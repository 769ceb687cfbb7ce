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
 * <p><b>Where requests go.</b> A client keeps one connection to each datacenter, measures how long
 * an answer takes, and sends a session's requests to the nearest one that is up. When that one is
 * lost the session goes to the next, and back when the nearest has returned.
 *
 * <p><b>What a session guarantees</b>, across such moves: it reads its own writes; what it has read
 * once it does not lose sight of; its writes take effect in their order, after whatever it had
 * read. It remembers what it has seen, and a datacenter that has not yet received that answers when
 * it has, or with SESSION_BEHIND when the time limit is near. If a datacenter lost its memory
 * before it had shipped what the session saw, nobody has it: SESSION_LOST. {@link
 * io.osier.proxy.Session#forget} gives the guarantees up and starts anew.
 *
 * <p><b>Transactions.</b> In a {@code causal} keyspace {@link io.osier.proxy.Keyspace#begin} opens
 * a {@link io.osier.proxy.Transaction}: it has the same handles, reads one snapshot, and its
 * updates become visible together with the commit. {@link io.osier.proxy.Keyspace#readTogether} and
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
 * io.osier.proxy.Keyspace#updateAll(java.util.List)} are many calls in one request for each
 * partition, each with its own outcome ({@link io.osier.proxy.BatchException}). {@link
 * io.osier.proxy.ObjectSpace#scan} shows objects in the order of their keys, as a stream, or with
 * {@link io.osier.proxy.ObjectSpace#publish} to subscribers that say how many they want; {@link
 * io.osier.proxy.ObjectSpace#count} counts them, and {@link io.osier.proxy.ObjectSpace#exists} and
 * {@link io.osier.proxy.ObjectSpace#type} ask of one key, without its value. In a transaction they
 * show its snapshot.
 *
 * <pre>{@code
 * Map<String, Found> carts = shop.getAll(List.of("cart:7", "cart:8"));
 * try (Stream<Row> rows = shop.scan(Scan.prefix("cart:"))) {
 *   rows.forEach(row -> System.out.println(row.key() + " " + row.value()));
 * }
 * long users = shop.count(Scan.prefix("user:"));
 * }</pre>
 *
 * <p><b>Objects.</b> {@link io.osier.proxy.ObjectSpace#register(String, Class)} and its like are
 * handles of a program's own classes, in registers, sets and map fields; {@link
 * io.osier.proxy.ObjectSpace#map(String, Class)} is a map whose fields are a record's components.
 * How objects are kept is {@link io.osier.proxy.OsierClient.Builder#values}.
 *
 * <p><b>Three outcomes.</b> An update is done (the call returns), or failed for certain ({@link
 * io.osier.core.OsierException}, nothing was done), or its outcome is unknown ({@link
 * io.osier.proxy.OutcomeUnknownException}: the connection was lost or the time ran out after it was
 * sent, or the datacenter itself cannot tell). The type says which; the code says why. What is
 * wrong with a call is said before it is sent where that can be seen, and an update is not sent
 * when no time is left to hear its answer. Reads, and updates that were never sent, are tried again
 * elsewhere within the time limit; an update of unknown outcome never is, but for a transaction's
 * commit, which its datacenter knows again.
 *
 * <p><b>Giving up.</b> Cancelling a call's future, or completing it otherwise, gives the call up,
 * and so does an interrupt of the thread that waits in a synchronous call, which then ends at once
 * with CANCELLED and stays interrupted. What was not sent yet is not sent, nothing is tried again,
 * and the call's place among those under way is free. Futures that were derived from the call's
 * stand for it: it is given up when the last of them is.
 *
 * <p>Each operation has a synchronous form and one that returns a {@code CompletableFuture} and
 * whose name ends in Async. Everything is safe for any thread.
 *
 * <p><b>Back-pressure.</b> At most {@link io.osier.proxy.OsierClient.Builder#inFlightMax} calls of
 * a client are under way. A thread that makes a further one, also an asynchronous one, waits until
 * one has ended, within the call's time limit; then it fails with OVERLOADED, and nothing was sent.
 * A transaction's steps are calls, too, also while they wait for those before them; its abort is
 * none.
 *
 * <p><b>Callbacks</b> (what is attached to such a future) run in the thread that brings the answer:
 * the client's own, or, with a datacenter in the process, one that works for it or for another
 * caller. So a callback must not wait, and must not take a lock that its program holds while it
 * calls; what takes long belongs on an executor ({@code thenApplyAsync}). Calls that a callback or
 * a thread of Netty's makes are never made to wait for room. A synchronous call there fails with
 * INVALID_ARGUMENT if it would wait for its own thread.
 */
@NullMarked
package io.osier.proxy;

import org.jspecify.annotations.NullMarked;
