/**
 * The change feed for watchers: each partition passes what becomes visible to a {@link
 * io.osier.datacenter.feed.ChangeRing} of bounded size, and a {@link
 * io.osier.datacenter.feed.KeyspaceFeed} answers watchers' polls for changes after their position.
 * A watcher is nothing but a position, so a slow one takes no memory and delays nobody.
 */
@NullMarked
package io.osier.datacenter.feed;

import org.jspecify.annotations.NullMarked;
