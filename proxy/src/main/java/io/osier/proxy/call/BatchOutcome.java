package io.osier.proxy.call;

import io.osier.core.OsierException;
import io.osier.proxy.Keyspace.Found;
import org.jspecify.annotations.Nullable;

/**
 * What became of a batch, by the numbers of its parts.
 *
 * @param errors of each part; null where it is done
 * @param found what was found of each part that was a read; null of all others
 */
public record BatchOutcome(@Nullable OsierException[] errors, @Nullable Found[] found) {}
