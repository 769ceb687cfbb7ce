package io.osier.proxy.cache;

import java.time.Duration;
import java.util.List;

/**
 * Settings of the sessions' read caches.
 *
 * @param staleness the greatest age of a kept answer; 0 to keep none
 * @param entriesMax the number of keys whose answers each session keeps, at most
 * @param follows the keys whose changes are followed, so that answers are kept until they change
 */
public record CacheSettings(Duration staleness, long entriesMax, List<FollowedPrefix> follows) {}
