/**
 * What becomes visible, for watchers: each partition hands it over to a {@link
 * io.osier.datacenter.feed.ChangeRing} of bounded size, and a {@link
 * io.osier.datacenter.feed.KeyspaceFeed} answers those who ask for what is behind their position. A
 * watcher is nothing but a position, so a slow one keeps nothing and delays nobody.
 */
@NullMarked
package io.osier.datacenter.feed;

import org.jspecify.annotations.NullMarked;
