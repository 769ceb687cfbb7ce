package io.osier.proxy.call;

import io.osier.core.OsierException;
import io.osier.proxy.Keyspace.Found;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a batch, indexed by the part's number.
 *
 * @param errors each part's error; null if the part is done
 * @param found what each read has found; null for updates and for failed reads
 */
public record BatchOutcome(@Nullable OsierException[] errors, @Nullable Found[] found) {}
