package io.osier.proxy.cache;

import java.time.Duration;
import java.util.List;

/**
 * What sessions keep of what they read.
 *
 * @param staleness how old an answer may be; 0 to keep none
 * @param entriesMax of how many keys each session keeps answers
 * @param follows the keys whose changes are followed, so that answers are kept until they change
 */
public record CacheSettings(Duration staleness, long entriesMax, List<FollowedPrefix> follows) {}
